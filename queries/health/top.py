"""The observations most worth a look: highest and lowest weight, misleading, outdated, alone, never retrieved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sqlalchemy import BigInteger, Double, Integer, and_, case, cast, func, literal, literal_column, null, select, true

from queries import own_schema, schema
from queries.aggregation_runs import newest_runs
from queries.drawn import WHOLE
from queries.drift.triage import keeps_older, of_alert
from queries.engine import AGGREGATE
from queries.health.retrieved import by_anyone, with_last_retrieval
from queries.health.stored import SETTLED
from queries.moments import datable
from queries.organizations import shown_name
from queries.scores import is_finite
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from sqlalchemy import CTE, ColumnElement, FromClause, Select

    from queries.scope import Scope

Kind = Literal["most", "highest", "lowest", "misleading", "outdated", "alone", "never"]
SHOWN = 25
LONGEST_TEXT = 500


@dataclass(frozen=True)
class TopRow:
    """One observation; ``sessions`` were misled by it, ``severity`` is that of what contradicts it later."""

    id: str
    org_id: str
    organization: str
    project_id: str | None
    agent_id: str | None
    created_at: datetime | None
    content: str
    weight: float | None
    retrieved: int
    injected: int | None
    sessions: int | None
    helped: int | None
    severity: float | None
    voices: int | None


@dataclass(frozen=True)
class TopObservations:
    """Twenty-five active observations of one kind, or as many as ``shown``, by what they did in the window.

    *most*: retrieved most; of a log too long to be folded whole, in the retrievals drawn. *highest*, *lowest*:
    retrieved in the window, by weight. *misleading*: named so by the diagnostics of most sessions.
    *outdated*: the older side of a contradiction that the last pass found, still retrieved, unless triage dismissed
    the alert, found the older right or put it off. *alone*: retrieved most while the last pass found nobody else who
    says it. *never*: what ``Usage`` counts as never retrieved, the newest first.
    """

    scope: Scope
    kind: Kind
    shape: LogShape = COMPLETE_SHAPE
    shown: int = SHOWN
    row: ClassVar[type] = TopRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """Only what the kind needs is joined, so that a store without passes or diagnostics has the others."""
        table, orgs = schema.observations, schema.organizations
        placed, last = self._placed()
        source = placed.join(orgs, orgs.c.id == table.c.org_id)
        retrieved: ColumnElement[Any] = literal_column("0", BigInteger)
        injected = retrieved
        if self.kind != "never":  # which is what nobody retrieved
            used = self._used()
            source = source.join(used, _same(used, table), isouter=self.kind == "misleading")
            retrieved, injected = func.coalesce(used.c.retrieved, 0), func.coalesce(used.c.injected, 0)
        sessions: ColumnElement[Any] = cast(null(), BigInteger)
        helped: ColumnElement[Any] = cast(null(), BigInteger)
        severity: ColumnElement[Any] = cast(null(), Double)
        voices: ColumnElement[Any] = cast(null(), Integer)
        weight = cast(table.c.weight, Double)
        finite = is_finite(weight)
        chosen: ColumnElement[bool] = finite
        order: tuple[ColumnElement[Any], ...] = (weight.desc(), retrieved.desc())
        if self.kind == "most":
            chosen, order = true(), (retrieved.desc(),)
        elif self.kind == "lowest":
            order = (weight, retrieved.desc())
        elif self.kind == "misleading":
            named = self._named()
            source = source.join(named, _same(named, table))
            sessions, helped = named.c.misled, named.c.helped
            chosen, order = named.c.misled > 0, (named.c.misled.desc(), retrieved.desc())
        elif self.kind == "outdated":
            older = self._older()
            source = source.join(older, _same(older, table))
            severity = older.c.severity
            chosen, order = true(), (retrieved.desc(), older.c.severity.desc())
        elif self.kind == "alone":
            passes, members = self._passes(_first_unread()), own_schema.clusters
            its_pass = and_(
                passes.c.org_id == table.c.org_id, passes.c.project_id.is_not_distinct_from(table.c.project_id)
            )
            its_cluster = and_(
                members.c.org_id == table.c.org_id,
                members.c.run_id == passes.c.id,
                members.c.observation_id == table.c.id,
            )
            source = source.join(passes, its_pass).outerjoin(members, its_cluster)
            voices = func.coalesce(members.c.agents, 1)
            # of what was written after the pass, or before the newest that it reads, nothing is known
            compared = func.coalesce(table.c.created_at > passes.c.first_unread, True)
            # a pass leaves out a weight that is no number, and takes none for 1
            chosen = and_(finite.is_not(False), voices <= 1, compared, table.c.created_at <= passes.c.started_at)
            order = (retrieved.desc(), weight.desc().nulls_last())
        elif self.kind == "never":
            chosen, order = and_(self._unread(), last.is_(None)), (table.c.created_at.desc(),)
        return (
            select(
                table.c.id,
                table.c.org_id,
                shown_name(orgs),
                table.c.project_id,
                table.c.agent_id,
                datable(table.c.created_at),
                func.left(table.c.content, LONGEST_TEXT),
                case((finite, weight)),
                retrieved,
                injected if self.shape.injected else cast(null(), BigInteger),
                sessions,
                helped,
                severity,
                voices,
            )
            .select_from(source)
            .where(self.scope.tenant(table), table.c.status == "active", chosen)
            .order_by(*order, table.c.id)
            .limit(self.shown)
        )

    def _placed(self) -> tuple[FromClause, ColumnElement[Any]]:
        """Observations, for the one list that needs it beside when the log last had each."""
        if self.kind != "never":
            return schema.observations, null()
        return with_last_retrieval(schema.observations, self.scope, self.shape, self.scope.until, self._unread())

    def _unread(self) -> ColumnElement[bool]:
        table = schema.observations
        return and_(table.c.created_at < self.scope.until - SETTLED, table.c.last_accessed_at.is_(None))

    def _used(self) -> CTE:
        """Retrievals of the window by observation, whoever made them; counted for the scope's own alone."""
        share = self.shape.share(self.scope) if self.kind == "most" else WHOLE
        log, table = self.shape.rows(by_anyone(self.scope), share=share), schema.observations
        source: FromClause = log
        if self.scope.project is not None:
            source = log.join(table, and_(_same(log, table), self.scope.tenant(table)))
        return (
            select(
                log.c.org_id,
                log.c.observation_id,
                func.count(log.c.retrieval.distinct()).label("retrieved"),
                func.count(log.c.retrieval.distinct()).filter(log.c.injected).label("injected"),
            )
            .select_from(source)
            .group_by(log.c.org_id, log.c.observation_id)
            .cte("used")
            # inside the question it may be formed anew for each row, or compared with every other of its organization
            .prefix_with("materialized")
        )

    def _named(self) -> CTE:
        """What diagnostics of the window's sessions name; of the scope's project is what the observation belongs to."""
        found = schema.session_diagnostics
        limits = [self.scope.organizations(found.c.org_id)]
        limits += [found.c.created_at >= self.scope.since, found.c.created_at < self.scope.until]
        parts = [
            select(
                found.c.org_id,
                found.c.session_id,
                func.unnest(column).label("observation_id"),
                literal(misled).label("misled"),
            )
            .where(*limits)
            .distinct()  # a session that names one twice is one session
            for column, misled in ((found.c.misleading_observation_ids, 1), (found.c.helpful_observation_ids, 0))
        ]
        each = parts[0].union_all(parts[1]).subquery("named_once")
        return (
            select(
                each.c.org_id,
                each.c.observation_id,
                func.count().filter(each.c.misled == 1).label("misled"),
                func.count().filter(each.c.misled == 0).label("helped"),
            )
            .group_by(each.c.org_id, each.c.observation_id)
            .cte("named")
        )

    def _older(self) -> CTE:
        """The older sides of standing contradictions that triage has not settled for them, with the most severe one."""
        passes, found = self._passes(), own_schema.contradictions
        here = and_(found.c.org_id == passes.c.org_id, found.c.run_id == passes.c.id)
        return (
            select(found.c.org_id, found.c.older.label("observation_id"), func.max(found.c.severity).label("severity"))
            .select_from(passes.join(found, here).outerjoin(own_schema.drift_triage, of_alert(found)))
            .where(~keeps_older())
            .group_by(found.c.org_id, found.c.older)
            .cte("older")
        )

    def _passes(self, *more: ColumnElement[Any]) -> CTE:
        runs = own_schema.aggregation_runs
        columns = (runs.c.org_id, runs.c.project_id, runs.c.id, runs.c.started_at, *more)
        return newest_runs(self.scope.tenant(runs), *columns).cte("passes").prefix_with("materialized")


def _first_unread() -> ColumnElement[Any]:
    """When the newest observation was written that a pass did not read, for a pass that left some out.

    Whatever their status is now: one archived since was read, and one archived before makes this too late, never early.
    """
    runs, table = own_schema.aggregation_runs, schema.observations.alias("beyond")
    read = runs.c.observations + func.coalesce(runs.c.set_apart, 0)
    first = (
        select(table.c.created_at)
        .where(
            table.c.org_id == runs.c.org_id,
            table.c.project_id.is_not_distinct_from(runs.c.project_id),
            table.c.created_at <= runs.c.started_at,
        )
        .order_by(table.c.created_at.desc())
        .offset(read)
        .limit(1)
        .correlate(runs)
        .scalar_subquery()
    )
    return case((runs.c.active > read, first)).label("first_unread")


def _same(found: FromClause, table: Any) -> ColumnElement[bool]:  # noqa: ANN401 - a table
    return and_(found.c.org_id == table.c.org_id, found.c.observation_id == table.c.id)
