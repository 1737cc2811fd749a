"""Every organization in scope at a glance: what it stores, retrieves, and what feedback did to that."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import and_, func, select

from queries import folding, schema
from queries.drawn import WHOLE, counted, drawn, newest_logged, summed
from queries.engine import AGGREGATE
from queries.ground import Ground
from queries.organizations import in_scope, shown_name
from queries.retrievals import at_limit, comparable
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from sqlalchemy import CTE, ColumnElement, FromClause, Select, Subquery

    from queries.scope import Scope


@dataclass(frozen=True)
class OverviewRow:
    """One organization: counts, so that totals and shares can be formed from them without rounding twice."""

    org_id: str
    name: str
    observations: int
    new_observations: int
    retrievals: int
    drawn: int
    log_rows: int
    complete: int
    measured: int
    moved: int
    overlap: float
    block_known: int
    flips: int
    truncated: int
    repeated: int
    unusable: int
    newest: datetime | None
    sessions: int
    accepted: int
    rejected: int
    rework: int
    unknown_outcome: int


@dataclass(frozen=True)
class Overview:
    """One row per organization in scope, also for those without any activity.

    ``measured`` counts retrievals logged whole, each observation once and with finite scores, while weighting was on:
    only these can say whether feedback moved the top 5. ``overlap`` is the sum of their RBO; ``flips`` counts who
    entered or left a block through feedback, over the ``block_known`` of them whose block is logged. Of a log
    too long to be folded whole, what is counted of retrievals is an estimate; ``drawn`` is how many of the measured
    they rest on.
    """

    scope: Scope
    shape: LogShape = COMPLETE_SHAPE
    row: ClassVar[type] = OverviewRow
    limit: ClassVar[float] = AGGREGATE

    @property
    def ground(self) -> Ground:
        """The retrievals that it counts."""
        return Ground(self.scope, self.shape)

    def measures(self, log: Subquery) -> list[ColumnElement[Any]]:
        """What it needs of each beside what all do."""
        return [folding.meetings(log), *folding.block_measures(log)]

    def statement(self) -> Select[Any]:
        """Three aggregates joined to the organizations, each scanning its table once."""
        return self.of(self.ground.folded(self.measures).subquery("retrieval"))

    def of(self, each: FromClause) -> Select[Any]:
        """The same of retrievals that are folded already."""
        orgs = schema.organizations
        stored, logged, worked = self._stored(), self._logged(each), self._worked()
        read_whole = self.shape.share(self.scope) >= WHOLE

        def known(table: CTE, *names: str) -> list[Any]:
            return [func.coalesce(table.c[name], 0).label(name) for name in names]

        return (
            select(
                orgs.c.id,
                shown_name(orgs),
                *known(stored, "observations", "new_observations"),
                *known(logged, "retrievals", "drawn", "log_rows", "complete", "measured", "moved"),
                *known(logged, "overlap", "block_known", "flips"),
                *known(logged, "truncated", "repeated", "unusable"),
                logged.c.newest if read_whole else newest_logged(self.scope),
                *known(worked, "sessions", "accepted", "rejected", "rework", "unknown_outcome"),
            )
            .select_from(orgs)
            .join(stored, stored.c.org_id == orgs.c.id, isouter=True)
            .join(logged, logged.c.org_id == orgs.c.id, isouter=True)
            .join(worked, worked.c.org_id == orgs.c.id, isouter=True)
            .where(in_scope(self.scope))
            .order_by(func.coalesce(logged.c.retrievals, 0).desc(), orgs.c.name, orgs.c.id)
        )

    def _stored(self) -> CTE:
        table = schema.observations
        recent = and_(table.c.created_at >= self.scope.since, table.c.created_at < self.scope.until)
        return (
            select(
                table.c.org_id,
                func.count().label("observations"),
                func.count().filter(recent).label("new_observations"),
            )
            .where(self.scope.tenant(table), table.c.status == "active")
            .group_by(table.c.org_id)
            .cte("stored")
        )

    def _logged(self, each: FromClause) -> CTE:
        share = self.ground.share
        measured = comparable(each)
        known = and_(measured, folding.has_known_block(each))
        count = partial(counted, each, share)
        overlap = folding.rank_biased_overlap(each)
        return (
            select(
                each.c.org_id,
                count().label("retrievals"),
                drawn(each, share, measured).label("drawn"),
                count(of=each.c.candidates).label("log_rows"),
                count(each.c.complete).label("complete"),
                count(measured).label("measured"),
                count(and_(measured, each.c.moved)).label("moved"),
                summed(each, share, measured, overlap).label("overlap"),
                count(known).label("block_known"),
                count(known, folding.block_flips(each)).label("flips"),
                count(at_limit(each)).label("truncated"),
                count(each.c.repeated).label("repeated"),
                count(of=each.c.unusable).label("unusable"),
                func.max(each.c.at).label("newest"),
            )
            .group_by(each.c.org_id)
            .cte("logged")
        )

    def _worked(self) -> CTE:
        table = schema.sessions
        by_outcome = [func.count().filter(table.c.outcome == name).label(name) for name in schema.OUTCOMES]
        unknown = func.count().filter(table.c.outcome.not_in(schema.OUTCOMES)).label("unknown_outcome")
        return (
            select(table.c.org_id, func.count().label("sessions"), *by_outcome, unknown)
            .where(self.scope.where(table))
            .group_by(table.c.org_id)
            .cte("worked")
        )


@dataclass(frozen=True)
class DailyRow:
    """One organization on one day."""

    org_id: str
    day: datetime
    retrievals: int
    measured: int
    moved: int


@dataclass(frozen=True)
class DailyRetrievals:
    """Retrievals per organization and day (UTC); a day without any has no row."""

    scope: Scope
    shape: LogShape = COMPLETE_SHAPE
    row: ClassVar[type] = DailyRow
    limit: ClassVar[float] = AGGREGATE

    @property
    def ground(self) -> Ground:
        """The retrievals that it counts."""
        return Ground(self.scope, self.shape)

    def measures(self, _: Subquery) -> list[ColumnElement[Any]]:
        """Nothing of each beside what all need."""
        return []

    def statement(self) -> Select[Any]:
        """The retrievals of the scope counted by the day they happened."""
        return self.of(self.ground.folded().subquery("retrieval"))

    def of(self, each: FromClause) -> Select[Any]:
        """The same of retrievals that are folded already."""
        share = self.ground.share
        day = func.date_trunc("day", each.c.at, "UTC")
        measured = comparable(each)
        count = partial(counted, each, share)
        return (
            select(each.c.org_id, day, count(), count(measured), count(and_(measured, each.c.moved)))
            .group_by(each.c.org_id, day)
            .order_by(each.c.org_id, day)
        )
