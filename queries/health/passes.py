"""How the passes over memory went: of each organization in sums, and of each project by itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import BigInteger, and_, cast, func, null, or_, select, union_all

from queries import own_schema, schema
from queries.aggregation_runs import newest_runs
from queries.engine import AGGREGATE
from queries.moments import datable

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select, Subquery

    from queries.scope import Scope

PASSES = 500  # of a table to read
LONGEST_ERROR = 500
RESULT = (
    "finished_at", "checked_at", "elapsed_ms", "active", "observations", "set_apart", "hashed", "clusters",
    "contradictions", "corroborated",
)  # fmt: skip
FAILURE = ("started_at", "error")


@dataclass(frozen=True)
class AggregatedRow:
    """One organization: its projects, what the standing passes add up to, and since when the longest of them waits.

    ``repeats`` are the members of clusters beyond the first of each, ``passed`` all that was read for them.
    """

    org_id: str
    projects: int
    repeats: int
    passed: int
    oldest: datetime | None


@dataclass(frozen=True)
class Aggregated:
    """Every project of each organization: aggregated when, and with how many repeats; ``oldest`` is the longest ago.

    What no pass has finished waits since its oldest active observation was written: one just begun is not late.
    """

    scope: Scope
    row: ClassVar[type] = AggregatedRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """Summed by organization, however many projects there are."""
        each = _each(self.scope)
        counted = and_(each.c.corroborated.is_not(None), each.c.clusters.is_not(None))
        repeats = func.sum(each.c.corroborated - each.c.clusters)
        return (
            select(
                each.c.org_id,
                func.count(),
                cast(func.coalesce(repeats, 0), BigInteger),
                cast(func.coalesce(func.sum(each.c.observations).filter(counted), 0), BigInteger),
                func.min(func.coalesce(each.c.checked_at, each.c.finished_at, each.c.first_at)),
            )
            .group_by(each.c.org_id)
            .order_by(each.c.org_id)
        )


@dataclass(frozen=True)
class PassRow:
    """One project's aggregation: its standing result, when that was last seen to hold, and the failure since, if any.

    A project that no pass has looked at has neither.
    """

    org_id: str
    project_id: str | None
    finished_at: datetime | None
    checked_at: datetime | None
    elapsed_ms: float | None
    active: int | None
    observations: int | None
    set_apart: int | None
    hashed: int | None
    clusters: int | None
    contradictions: int | None
    failed_at: datetime | None
    error: str | None


@dataclass(frozen=True)
class Passes:
    """The newest finished pass of every project in scope, and its newest failure; what needs a hand first."""

    scope: Scope
    row: ClassVar[type] = PassRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """One more than is shown, which says that there are more."""
        each = _each(self.scope)
        broken = or_(each.c.finished_at.is_(None), each.c.failed_at > each.c.finished_at)
        return (
            select(
                each.c.org_id,
                each.c.project_id,
                each.c.finished_at,
                each.c.checked_at,
                each.c.elapsed_ms,
                each.c.active,
                each.c.observations,
                each.c.set_apart,
                each.c.hashed,
                each.c.clusters,
                each.c.contradictions,
                each.c.failed_at,
                each.c.error,
            )
            .order_by(func.coalesce(broken, False).desc(), each.c.org_id, each.c.project_id)
            .limit(PASSES + 1)
        )


def _each(scope: Scope) -> Subquery:
    """A row per project: of what is stored, and of whatever a pass has finished or failed.

    Grouped instead of joined: a project may be null, and on "is not distinct from" Postgres can only compare each with
    each. The stored ones are one walk over an index of active observations, without their rows; ``first_at`` is when
    the oldest of them was written.
    """
    stored, runs = schema.observations, own_schema.aggregation_runs
    mine = scope.tenant(runs)
    done, failed = (newest_runs(mine, *runs.c, state=state).subquery(state) for state in ("done", "failed"))

    def nothing(*names: str) -> list[ColumnElement[Any]]:
        return [cast(null(), runs.c[name].type).label(name) for name in names]

    first = func.min(datable(stored.c.created_at)).label("first_at")
    no_first = cast(null(), stored.c.created_at.type).label("first_at")
    known = union_all(
        select(stored.c.org_id, stored.c.project_id, *nothing(*RESULT, *FAILURE), first)
        .where(scope.tenant(stored), stored.c.status == "active")
        .group_by(stored.c.org_id, stored.c.project_id),
        select(done.c.org_id, done.c.project_id, *(done.c[name] for name in RESULT), *nothing(*FAILURE), no_first),
        select(failed.c.org_id, failed.c.project_id, *nothing(*RESULT), failed.c.started_at, failed.c.error, no_first),
    ).subquery("known")
    return (
        select(
            known.c.org_id,
            known.c.project_id,
            *(func.max(known.c[name]).label(name) for name in (*RESULT, "first_at")),
            func.max(known.c.started_at).label("failed_at"),
            func.left(func.max(known.c.error), LONGEST_ERROR).label("error"),
        )
        .group_by(known.c.org_id, known.c.project_id)
        .subquery("each")
    )
