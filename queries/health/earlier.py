"""What stood in memory when the window began, of what is active today, as far as the store still knows it.

A store keeps no copies of its past. What was archived since counts nowhere, for nobody wrote down when; an access hides
the ones before it, which then have to be found in the log. What nobody kept counts as it stands now, so that it makes
no change, and is counted as unknown besides: of too much of it nothing can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import Double, and_, case, cast, exists, func, or_, select, true
from sqlalchemy.dialects.postgresql import distinct_on

from queries import schema
from queries.drawn import WHOLE, scaled, some
from queries.engine import AGGREGATE
from queries.health.retrieved import by_anyone, with_last_retrieval
from queries.health.stored import COLLAPSED, SETTLED, STALE, UsageRow
from queries.organizations import in_scope
from queries.scores import is_finite
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from sqlalchemy import CTE, ColumnElement, FromClause, Select
    from sqlalchemy.sql.selectable import LateralFromClause

    from queries.scope import Scope

UNTOUCHED = 1.0  # a weight that no feedback has moved


def _written(scope: Scope, table: FromClause = schema.observations) -> ColumnElement[bool]:
    return and_(scope.tenant(table), table.c.status == "active", table.c.created_at < scope.since)


@dataclass(frozen=True)
class EarlierWeightsRow:
    """One organization: weights when the window began, those below 0.2 then, and those that are not known."""

    org_id: str
    weighed: int
    collapsed: int
    unknown_weights: int


@dataclass(frozen=True)
class EarlierWeights:
    """The weights when the window began: what the first change since then started from, or what still stands.

    Weights begin at 1. One that had moved is known if its own history begins before the window does; else its first
    change may have been forgotten, or none was ever kept.
    """

    scope: Scope
    share: float = WHOLE
    row: ClassVar[type] = EarlierWeightsRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """The history is the organization's: a session of one project may judge another's observation."""
        table, history = some(schema.observations, self.share), schema.observation_weight_history
        changed = self._changed() if self.share >= WHOLE else self._first_change(table)
        told = exists().where(
            history.c.org_id == table.c.org_id,
            history.c.observation_id == table.c.id,
            history.c.recorded_at < self.scope.since,
        )
        weight = cast(func.coalesce(changed.c.previous_weight, table.c.weight), Double)
        finite = is_finite(weight)
        its_own = and_(changed.c.org_id == table.c.org_id, changed.c.observation_id == table.c.id)
        return (
            select(
                table.c.org_id,
                *(
                    scaled(func.count().filter(only), self.share)
                    for only in (
                        finite,
                        and_(finite, weight < COLLAPSED),
                        and_(finite, weight != UNTOUCHED, ~told),
                    )
                ),
            )
            .select_from(table.outerjoin(changed, its_own))
            .where(_written(self.scope, table))
            .group_by(table.c.org_id)
            .order_by(table.c.org_id)
        )

    def _changed(self) -> CTE:
        history = schema.observation_weight_history
        return (
            select(history.c.org_id, history.c.observation_id, history.c.previous_weight)
            .where(by_anyone(self.scope).tenant(history), history.c.recorded_at >= self.scope.since)
            .ext(distinct_on(history.c.org_id, history.c.observation_id))
            .order_by(history.c.org_id, history.c.observation_id, history.c.recorded_at, history.c.id)
            .cte("changed")
        )

    def _first_change(self, table: FromClause) -> LateralFromClause:
        """The same for one observation, by index."""
        history = schema.observation_weight_history
        its_own = (history.c.org_id == table.c.org_id, history.c.observation_id == table.c.id)
        return (
            select(history.c.org_id, history.c.observation_id, history.c.previous_weight)
            .where(*its_own, history.c.recorded_at >= self.scope.since)
            .order_by(history.c.recorded_at, history.c.id)
            .limit(1)
            .lateral("changed")
        )


@dataclass(frozen=True)
class EarlierUsageRow(UsageRow):
    """The same when the window began, and of how many it is not known whether they had been read by then."""

    unknown_never: int
    unknown_stale: int


@dataclass(frozen=True)
class EarlierUsage:
    """What nothing had retrieved when the window began, by the rules of ``Usage``.

    Where an observation was accessed since, the log alone tells what came before. One written before the log begins
    may have had accesses that nobody can find: it counts as read, as it does now, and as unknown.
    """

    scope: Scope
    shape: LogShape = COMPLETE_SHAPE
    share: float = WHOLE
    row: ClassVar[type] = EarlierUsageRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """Each observation's last access then, and then counted."""
        table, since = some(schema.observations, self.share), self.scope.since
        written, latest = table.c.created_at, table.c.last_accessed_at
        accessed = case((latest < since, latest))
        old, ancient = written < since - SETTLED, written < since - STALE
        needed = or_(and_(old, accessed.is_(None)), func.greatest(written, accessed) < since - STALE)
        source, retrieved = with_last_retrieval(table, self.scope, self.shape, since, needed)
        begins = self._begins()
        hidden = and_(func.coalesce(latest >= since, False), retrieved.is_(None))
        lost = and_(hidden, or_(begins.c.at.is_(None), written < begins.c.at))
        # what 90 logged days did not find is stale whatever came before them, and what is younger is not
        too_short = and_(lost, ancient, or_(begins.c.at.is_(None), begins.c.at > since - STALE))
        never = and_(old, accessed.is_(None), retrieved.is_(None), ~lost)
        stale = and_(func.greatest(written, accessed, retrieved) < since - STALE, ~too_short)
        return (
            select(
                table.c.org_id,
                *(
                    scaled(func.count().filter(only), self.share)
                    for only in (old, never, true(), stale, and_(old, lost), too_short)
                ),
            )
            .select_from(source.outerjoin(begins, begins.c.org_id == table.c.org_id))
            .where(_written(self.scope, table))
            .group_by(table.c.org_id)
            .order_by(table.c.org_id)
        )

    def _begins(self) -> CTE:
        """When each organization's log begins: one look at the end of an index each."""
        orgs, logs = schema.organizations, schema.retrieval_ab_logs
        first = select(func.min(logs.c.created_at)).where(logs.c.org_id == orgs.c.id).scalar_subquery()
        return select(orgs.c.id.label("org_id"), first.label("at")).where(in_scope(self.scope)).cte("begins")
