"""What stands in memory now: duplicates, collapsed weights, missing vectors, and what is never or no longer read.

One question per figure, so that a store that lacks a column loses one figure and not all. Of a ``share`` of the
observations every count is what those stand for, and what has to be known of each is looked up in an index.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import BigInteger, Double, and_, case, cast, exists, func, or_, select, true
from sqlalchemy.dialects.postgresql import distinct_on

from queries import schema
from queries.drawn import WHOLE, scaled, some
from queries.engine import AGGREGATE
from queries.health.retrieved import by_anyone, with_last_retrieval
from queries.scores import is_finite
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement, FromClause, Select

    from queries.scope import Scope

COLLAPSED = 0.2  # a weight below which five times the relevance of a fresh memory is needed to stand level
SETTLED = timedelta(days=7)  # an observation younger than this had little chance to be found
STALE = timedelta(days=90)


def _active(scope: Scope, table: FromClause = schema.observations) -> ColumnElement[bool]:
    return and_(scope.tenant(table), table.c.status == "active")


def _whole(column: ColumnElement[Any]) -> ColumnElement[int]:
    return cast(func.coalesce(func.sum(column), 0), BigInteger)


@dataclass(frozen=True)
class DuplicatesRow:
    """One organization: its active observations, and how many of them repeat another's text exactly."""

    org_id: str
    active: int
    surplus: int


@dataclass(frozen=True)
class Duplicates:
    """Active observations beyond the first with the same project, agent and content hash; without a hash none is equal.

    ``by`` leaves out what was written from that moment on: how it stood then, of what is active today.
    """

    scope: Scope
    by: datetime | None = None
    share: float = WHOLE
    row: ClassVar[type] = DuplicatesRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """Grouped by what makes two the same, then summed: one walk without a sort."""
        if self.share < WHOLE:
            return self._drawn()
        table = schema.observations
        same = (table.c.org_id, table.c.project_id, table.c.agent_id, table.c.content_hash)
        wanted = (_active(self.scope), *self._by(table))
        members = func.count()
        surplus = case((table.c.content_hash.is_not(None), members - 1), else_=0)
        groups = (
            select(table.c.org_id, members.label("members"), surplus.label("surplus"))
            .where(*wanted)
            .group_by(*same)
            .cte()
        )
        return (
            select(groups.c.org_id, _whole(groups.c.members), _whole(groups.c.surplus))
            .group_by(groups.c.org_id)
            .order_by(groups.c.org_id)
        )

    def _drawn(self) -> Select[Any]:
        """All but the first of those that are the same, by id, are surplus: that can be asked of each by itself."""
        table, other = some(schema.observations, self.share), schema.observations.alias("other")
        names = ("project_id", "agent_id")
        same = [other.c.org_id == table.c.org_id, other.c.content_hash == table.c.content_hash]
        same += [other.c[name].is_not_distinct_from(table.c[name]) for name in names]
        wanted = [(_active(self.scope, each), *self._by(each)) for each in (table, other)]
        surplus = exists().where(*same, *wanted[1], other.c.id < table.c.id)
        return (
            select(table.c.org_id, scaled(func.count(), self.share), scaled(func.count().filter(surplus), self.share))
            .where(*wanted[0])
            .group_by(table.c.org_id)
            .order_by(table.c.org_id)
        )

    def _by(self, table: FromClause) -> list[ColumnElement[bool]]:
        return [] if self.by is None else [table.c.created_at < self.by]


@dataclass(frozen=True)
class WeightsRow:
    """One organization: how many weights fell below 0.2, and how many are no numbers."""

    org_id: str
    weighed: int
    collapsed: int
    unusable_weights: int


@dataclass(frozen=True)
class Weights:
    """Active observations by whether feedback has taken nearly all of their weight."""

    scope: Scope
    share: float = WHOLE
    row: ClassVar[type] = WeightsRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """A weight that is no number is counted apart: it is neither high nor low."""
        table = some(schema.observations, self.share)
        # a platform may keep weights as numeric: they are read as doubles everywhere
        weight = cast(table.c.weight, Double)
        finite = is_finite(weight)
        return (
            select(
                table.c.org_id,
                *(
                    scaled(func.count().filter(only), self.share)
                    for only in (finite, and_(finite, weight < COLLAPSED), finite.is_not(True))
                ),
            )
            .where(_active(self.scope, table))
            .group_by(table.c.org_id)
            .order_by(table.c.org_id)
        )


@dataclass(frozen=True)
class VectorsRow:
    """One organization: active observations, those without a full vector, those with one of another dimension."""

    org_id: str
    embeddable: int
    vectorless: int
    other_dimension: int


@dataclass(frozen=True)
class VectorGaps:
    """Active observations that no vector leg can find; the usual dimension is the organization's most common one."""

    scope: Scope
    share: float = WHOLE
    row: ClassVar[type] = VectorsRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """The organization's counted by dimension first, beside the scope's own: all but its largest group are other.

        Of equally large groups the one of the smaller dimension is the usual.
        """
        table, vectors = some(schema.observations, self.share), schema.observation_embeddings
        its_own = and_(
            vectors.c.org_id == table.c.org_id, vectors.c.observation_id == table.c.id, vectors.c.route == "full"
        )
        found: FromClause = vectors
        if self.share < WHOLE:
            # left to itself the planner would read every vector; it does not look behind an offset
            found = select(vectors.c.embedding).where(its_own).offset(0).lateral("its_vector")
        joined = table.outerjoin(found, its_own if self.share >= WHOLE else true())
        own = func.count() if self.scope.project is None else func.count().filter(self.scope.tenant(table))
        sizes = (
            select(
                table.c.org_id,
                func.vector_dims(found.c.embedding).label("size"),
                func.count().label("members"),
                own.label("own"),
            )
            .select_from(joined)
            .where(_active(by_anyone(self.scope), table))
            .group_by(table.c.org_id, "size")
            .cte("sizes")
        )
        has_one = sizes.c.size.is_not(None)
        usual = (
            select(sizes.c.org_id, sizes.c.size)
            .where(has_one)
            .ext(distinct_on(sizes.c.org_id))
            .order_by(sizes.c.org_id, sizes.c.members.desc(), sizes.c.size)
            .cte("usual")
        )
        every, none, other = (
            func.coalesce(func.sum(sizes.c.own).filter(only), 0)
            for only in (true(), ~has_one, sizes.c.size != usual.c.size)
        )
        return (
            select(sizes.c.org_id, *(scaled(number, self.share) for number in (every, none, other)))
            .select_from(sizes.outerjoin(usual, usual.c.org_id == sizes.c.org_id))
            .group_by(sizes.c.org_id)
            .having(every > 0)
            .order_by(sizes.c.org_id)
        )


@dataclass(frozen=True)
class UsageRow:
    """One organization: observations old enough to have been found, those never found, all, and the stale of all."""

    org_id: str
    settled: int
    never: int
    kept: int
    stale: int


@dataclass(frozen=True)
class Usage:
    """Active observations that nothing retrieves, whatever the window's length.

    *Never*: older than seven days at the window's end, no access on record and in no retrieval that was logged by then.
    *Stale*: neither written nor read in the 90 days before the window's end. A retrieval reads all its candidates,
    while only those that are injected have an access.
    """

    scope: Scope
    shape: LogShape = COMPLETE_SHAPE
    share: float = WHOLE
    row: ClassVar[type] = UsageRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """The log is asked only about what has no access that would decide."""
        table, until = some(schema.observations, self.share), self.scope.until
        written, accessed = table.c.created_at, table.c.last_accessed_at
        old = written < until - SETTLED
        needed = or_(and_(old, accessed.is_(None)), func.greatest(written, accessed) < until - STALE)
        source, retrieved = with_last_retrieval(table, self.scope, self.shape, until, needed)
        never = and_(old, accessed.is_(None), retrieved.is_(None))
        stale = func.greatest(written, accessed, retrieved) < until - STALE
        return (
            select(
                table.c.org_id,
                scaled(func.count().filter(old), self.share),
                scaled(func.count().filter(never), self.share),
                scaled(func.count(), self.share),
                scaled(func.count().filter(stale), self.share),
            )
            .select_from(source)
            .where(_active(self.scope, table))
            .group_by(table.c.org_id)
            .order_by(table.c.org_id)
        )
