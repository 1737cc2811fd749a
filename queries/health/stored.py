"""What stands in memory now: duplicates, collapsed weights, missing vectors, and what is never or no longer read.

One question per figure, so that a store that lacks a column loses one figure and not all.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import BigInteger, Double, and_, cast, func, select

from queries import schema
from queries.engine import AGGREGATE
from queries.scores import is_finite
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement, Select

    from queries.scope import Scope

COLLAPSED = 0.2  # a weight below which five times the relevance of a fresh memory is needed to stand level
SETTLED = timedelta(days=7)  # an observation younger than this had little chance to be found
STALE = timedelta(days=90)


def _active(scope: Scope) -> ColumnElement[bool]:
    table = schema.observations
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
    """Active observations beyond the first with the same project, agent and content hash.

    ``by`` leaves out what was written from that moment on: how it stood then, of what is active today.
    """

    scope: Scope
    by: datetime | None = None
    row: ClassVar[type] = DuplicatesRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """Grouped by what makes two the same, then summed: one walk without a sort."""
        table = schema.observations
        same = (table.c.org_id, table.c.project_id, table.c.agent_id, table.c.content_hash)
        wanted = _active(self.scope) if self.by is None else and_(_active(self.scope), table.c.created_at < self.by)
        groups = select(table.c.org_id, func.count().label("members")).where(wanted).group_by(*same).cte()
        return (
            select(groups.c.org_id, _whole(groups.c.members), _whole(groups.c.members - 1))
            .group_by(groups.c.org_id)
            .order_by(groups.c.org_id)
        )


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
    row: ClassVar[type] = WeightsRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """A weight that is no number is counted apart: it is neither high nor low."""
        table = schema.observations
        # a platform may keep weights as numeric: they are read as doubles everywhere
        weight = cast(table.c.weight, Double)
        finite = is_finite(weight)
        return (
            select(
                table.c.org_id,
                func.count().filter(finite),
                func.count().filter(and_(finite, weight < COLLAPSED)),
                func.count().filter(finite.is_not(True)),
            )
            .where(_active(self.scope))
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
    row: ClassVar[type] = VectorsRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """Counted by dimension first: all but the largest group are of another one."""
        table, vectors = schema.observations, schema.observation_embeddings
        its_own = and_(
            vectors.c.org_id == table.c.org_id, vectors.c.observation_id == table.c.id, vectors.c.route == "full"
        )
        sizes = (
            select(table.c.org_id, func.vector_dims(vectors.c.embedding).label("size"), func.count().label("members"))
            .select_from(table.outerjoin(vectors, its_own))
            .where(_active(self.scope))
            .group_by(table.c.org_id, "size")
            .cte("sizes")
        )
        has_one = sizes.c.size.is_not(None)
        members = sizes.c.members
        held = func.coalesce(func.sum(members).filter(has_one), 0)
        usual = func.coalesce(func.max(members).filter(has_one), 0)
        return (
            select(
                sizes.c.org_id,
                _whole(members),
                cast(func.coalesce(func.sum(members).filter(~has_one), 0), BigInteger),
                cast(held - usual, BigInteger),
            )
            .group_by(sizes.c.org_id)
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
    """Active observations that nothing retrieves.

    *Never*: older than seven days at the window's end, no access on record and in no retrieval of the window. *Stale*:
    neither written nor read in the 90 days before the window's end.
    """

    scope: Scope
    shape: LogShape = COMPLETE_SHAPE
    row: ClassVar[type] = UsageRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """The window's log as a set of ids, joined once."""
        table = schema.observations
        log = self.shape.rows(self.scope)
        seen = select(log.c.org_id, log.c.observation_id).distinct().cte("seen")
        found = seen.c.observation_id.is_not(None)
        old = table.c.created_at < self.scope.until - SETTLED
        last = func.greatest(table.c.created_at, table.c.last_accessed_at)
        return (
            select(
                table.c.org_id,
                func.count().filter(old),
                func.count().filter(and_(old, table.c.last_accessed_at.is_(None), ~found)),
                func.count(),
                func.count().filter(and_(last < self.scope.until - STALE, ~found)),
            )
            .select_from(
                table.outerjoin(seen, and_(seen.c.org_id == table.c.org_id, seen.c.observation_id == table.c.id))
            )
            .where(_active(self.scope))
            .group_by(table.c.org_id)
            .order_by(table.c.org_id)
        )
