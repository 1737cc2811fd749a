"""Where triage stands: per alert, its history, and what was said of earlier alerts about the same two observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sqlalchemy import Text, Uuid, and_, any_, bindparam, column, func, or_, select
from sqlalchemy.dialects.postgresql import ARRAY, distinct_on

from queries import own_schema
from queries.aggregation_runs import newest_runs
from queries.drift.observed import uuids
from queries.engine import LIST

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, FromClause, Select

    from queries.drift.exposure import Pair
    from queries.scope import Scope

table, events = own_schema.drift_triage, own_schema.drift_triage_events


def snooze_is_over() -> ColumnElement[bool]:
    """Whether an alert that was put off is new again."""
    return and_(table.c.state == "snoozed", table.c.snoozed_until <= func.now())


def is_dismissed() -> ColumnElement[bool]:
    """Whether someone found that an alert shows no contradiction: a false positive, or both sides hold."""
    both = and_(table.c.state == "resolved", table.c.verdict == "both")
    return func.coalesce(or_(table.c.state == "false_positive", both), False)


def is_decided() -> ColumnElement[bool]:
    """Whether someone dismissed an alert, or resolved it for one side."""
    return table.c.state.in_(("resolved", "false_positive"))


def keeps_older() -> ColumnElement[bool]:
    """Whether nothing is to be done about an alert's older side: it was found right too, or the alert is put off."""
    right = and_(table.c.state == "resolved", table.c.verdict == "older")
    snoozed = and_(table.c.state == "snoozed", table.c.snoozed_until > func.now())
    return or_(is_dismissed(), func.coalesce(or_(right, snoozed), False))


def of_alert(found: FromClause) -> ColumnElement[bool]:
    """Whether a triage is of that alert; one that nobody touched has none."""
    return and_(table.c.org_id == found.c.org_id, table.c.fingerprint == found.c.fingerprint)


class TriageRow(NamedTuple):
    """What is stored of one alert's triage, under the store's names."""

    fingerprint: str
    state: str
    verdict: str | None
    owner: str | None
    note: str
    snoozed_until: datetime | None
    version: int
    changed_by: str
    changed_at: datetime


@dataclass(frozen=True)
class TriageOf:
    """What triage says of these alerts of one organization; one that nobody touched has no entry."""

    org_id: str
    fingerprints: tuple[str, ...]

    def statement(self) -> Select[Any]:
        """By primary key."""
        names = (table.c[name] for name in TriageRow._fields)
        wanted = bindparam(None, list(self.fingerprints), type_=ARRAY(Text))
        return select(*names).where(table.c.org_id == self.org_id, table.c.fingerprint == any_(wanted))

    def ask(self, connection: Connection) -> dict[str, TriageRow]:
        """By fingerprint."""
        if not self.fingerprints:
            return {}
        return {row[0]: TriageRow(*row) for row in connection.execute(self.statement())}


@dataclass(frozen=True)
class EarlierTriage:
    """The latest triage of other alerts of the same kind about the same two observations, by pair where there is one.

    Two unchanged texts may be in conflict of another kind at another threshold: that is no earlier alert. ``kinds``
    are those of the pairs, in their order.
    """

    org_id: str
    pairs: tuple[Pair, ...]
    kinds: tuple[str, ...]
    fingerprints: tuple[str, ...]

    def statement(self) -> Select[Any]:
        """The newest of each pair, those asked about left out."""
        older, newer = zip(*self.pairs, strict=True) if self.pairs else ((), ())
        named = (column("older", Uuid(as_uuid=False)), column("newer", Uuid(as_uuid=False)), column("kind", Text))
        kinds = bindparam(None, list(self.kinds), type_=ARRAY(Text))
        pairs = func.unnest(uuids(older), uuids(newer), kinds).table_valued(*named, name="pairs").render_derived()
        known = bindparam(None, list(self.fingerprints), type_=ARRAY(Text))
        same = and_(table.c.older == pairs.c.older, table.c.newer == pairs.c.newer, table.c.kind == pairs.c.kind)
        names = [table.c[name] for name in TriageRow._fields]
        columns: list[ColumnElement[Any]] = [table.c.older.cast(Text), table.c.newer.cast(Text), *names]
        return (
            select(*columns)
            .select_from(pairs.join(table, same))
            .where(table.c.org_id == self.org_id, ~(table.c.fingerprint == any_(known)))
            .ext(distinct_on(table.c.older, table.c.newer))
            .order_by(table.c.older, table.c.newer, table.c.changed_at.desc())
        )

    def ask(self, connection: Connection) -> dict[Pair, TriageRow]:
        """By both ids, the older first."""
        if not self.pairs:
            return {}
        return {(row[0], row[1]): TriageRow(*row[2:]) for row in connection.execute(self.statement())}


class DecisionRow(NamedTuple):
    """One decision about an alert: the state it led to, when, and when a snooze was to end."""

    state: str
    changed_at: datetime
    snoozed_until: datetime | None


@dataclass(frozen=True)
class DecisionsOf:
    """Every decision about these alerts of one organization, in the order in which they were taken."""

    org_id: str
    fingerprints: tuple[str, ...]

    def statement(self) -> Select[Any]:
        """The whole history: where an alert stands now does not tell how long it was open before."""
        wanted = bindparam(None, list(self.fingerprints), type_=ARRAY(Text))
        return (
            select(events.c.fingerprint, events.c.new_state, events.c.changed_at, events.c.snoozed_until)
            .where(events.c.org_id == self.org_id, events.c.fingerprint == any_(wanted))
            .order_by(events.c.id)
        )

    def ask(self, connection: Connection) -> dict[str, list[DecisionRow]]:
        """By fingerprint."""
        found: dict[str, list[DecisionRow]] = {}
        if self.fingerprints:
            for name, *decision in connection.execute(self.statement()):
                found.setdefault(name, []).append(DecisionRow(*decision))
        return found


@dataclass(frozen=True)
class Verdicts:
    """Up to which threshold each judged alert of an organization is found, and whether it was right to alert."""

    org_id: str

    def statement(self) -> Select[Any]:
        """Only what someone decided: resolved is right, whichever side or both; false positive is wrong."""
        judged = table.c.state.in_(("resolved", "false_positive"))
        columns: tuple[ColumnElement[Any], ...] = (table.c.found_up_to, table.c.state == "resolved")
        return select(*columns).where(table.c.org_id == self.org_id, judged, table.c.found_up_to.is_not(None))

    def ask(self, connection: Connection) -> list[tuple[float, bool]]:
        """(highest threshold, right) of each."""
        return [(float(most), bool(right)) for most, right in connection.execute(self.statement())]


@dataclass(frozen=True)
class DecidedAlerts:
    """The alerts of an organization that someone dismissed, or resolved for one side."""

    org_id: str

    def statement(self) -> Select[Any]:
        """By the same rule of what was dismissed as Overview's."""
        columns = (table.c.fingerprint, is_dismissed(), table.c.verdict)
        return select(*columns).where(table.c.org_id == self.org_id, is_decided())

    def ask(self, connection: Connection) -> dict[str, tuple[bool, str | None]]:
        """(dismissed, the side that is right) by fingerprint."""
        return {name: (dismissed, verdict) for name, dismissed, verdict in connection.execute(self.statement())}


@dataclass(frozen=True)
class NewAlertsRow:
    """One organization's contradictions as its last passes kept them: all but those dismissed, and the new ones."""

    org_id: str
    alerts: int
    new: int


@dataclass(frozen=True)
class NewAlerts:
    """Contradictions of each organization's standing results, and those nobody has triaged; no row without a pass.

    What was dismissed is no drift; one that was resolved for either side is, until a pass finds it no more.
    """

    scope: Scope
    row: ClassVar[type] = NewAlertsRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """Of every project the newest finished pass; a snooze that is over counts as new."""
        runs, found = own_schema.aggregation_runs, own_schema.contradictions
        standing = newest_runs(self.scope.tenant(runs), runs.c.org_id, runs.c.id).cte("standing")
        new = or_(table.c.fingerprint.is_(None), table.c.state == "new", snooze_is_over())
        here = and_(found.c.org_id == standing.c.org_id, found.c.run_id == standing.c.id)
        columns: tuple[ColumnElement[Any], ...] = (
            standing.c.org_id,
            func.count(found.c.fingerprint).filter(~is_dismissed()),
            func.count(found.c.fingerprint).filter(new),
        )
        return (
            select(*columns)
            .select_from(standing.outerjoin(found, here).outerjoin(table, of_alert(found)))
            .group_by(standing.c.org_id)
        )
