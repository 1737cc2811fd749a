"""How far contradicting statements reached agents: injections of each side, and sessions that were given both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import Text, and_, any_, column, func, select
from sqlalchemy.types import Uuid

from queries.drift.observed import uuids
from queries.engine import AGGREGATE
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import CTE, ColumnElement, Connection, Select
    from sqlalchemy.sql.selectable import TableValuedAlias

    from queries.scope import Scope

Pair = tuple[str, str]


def paired(pairs: Sequence[Pair]) -> TableValuedAlias:
    """Pairs of ids as a table of the statement."""
    older, newer = zip(*pairs, strict=True) if pairs else ((), ())
    sides = (column("older", Uuid(as_uuid=False)), column("newer", Uuid(as_uuid=False)))
    return func.unnest(uuids(older), uuids(newer)).table_valued(*sides, name="pairs").render_derived()


@dataclass(frozen=True)
class ExposureRow:
    """Retrievals of the window that injected each side, and sessions that were given both."""

    older: str
    newer: str
    older_injected: int
    newer_injected: int
    both_injected: int


@dataclass(frozen=True)
class Exposure:
    """What agents were given of each pair in the scope's window; only for a log that says what was injected.

    ``of`` names the search that found the pairs, which are too many to be part of a cache's key.
    """

    scope: Scope
    of: str
    pairs: tuple[Pair, ...] = field(repr=False)
    shape: LogShape = COMPLETE_SHAPE
    row: ClassVar[type] = ExposureRow
    limit: ClassVar[float] = AGGREGATE

    def ask(self, connection: Connection) -> dict[Pair, tuple[int, ...]]:
        """The three counts by pair, inside a snapshot that is already open."""
        return {(row[0], row[1]): tuple(row[2:]) for row in connection.execute(self.statement())}

    def statement(self) -> Select[Any]:
        """Counted and intersected in the database, through the log's index on observations."""
        pairs, given = paired(self.pairs), self._given()
        counted = select(given.c.observation_id, func.count().label("times")).group_by(given.c.observation_id)
        older, newer = counted.cte("older_given"), counted.cte("newer_given")
        both = self._both(given)
        columns: tuple[ColumnElement[Any], ...] = (
            pairs.c.older.cast(Text),
            pairs.c.newer.cast(Text),
            func.coalesce(older.c.times, 0),
            func.coalesce(newer.c.times, 0),
            func.coalesce(both.c.sessions, 0),
        )
        together = and_(both.c.older == pairs.c.older, both.c.newer == pairs.c.newer)
        return select(*columns).select_from(
            pairs.outerjoin(older, older.c.observation_id == pairs.c.older)
            .outerjoin(newer, newer.c.observation_id == pairs.c.newer)
            .outerjoin(both, together)
        )

    def _given(self) -> CTE:
        """Every retrieval that injected one of the observations, each once however often it was logged."""
        log = self.shape.rows(self.scope)
        ids = sorted({id_ for pair in self.pairs for id_ in pair})
        return (
            select(log.c.observation_id, log.c.retrieval, log.c.session_id)
            .where(log.c.observation_id == any_(uuids(ids)), log.c.injected)
            .group_by(log.c.observation_id, log.c.retrieval, log.c.session_id)
            .cte("given")
        )

    def _both(self, given: CTE) -> CTE:
        pairs = paired(self.pairs)
        sessions = select(given.c.observation_id, given.c.session_id).distinct().cte("sessions")
        one, other = sessions.alias("one"), sessions.alias("other")
        same = and_(other.c.observation_id == pairs.c.newer, other.c.session_id == one.c.session_id)
        return (
            select(pairs.c.older, pairs.c.newer, func.count().label("sessions"))
            .select_from(pairs.join(one, one.c.observation_id == pairs.c.older).join(other, same))
            .group_by(pairs.c.older, pairs.c.newer)
            .cte("both_given")
        )
