"""How far contradicting statements reached agents: injections of each side, and sessions that were given both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Text, any_, column, func, select
from sqlalchemy.types import Uuid

from queries.drift.observed import uuids
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
    return func.unnest(uuids(older), uuids(newer)).table_valued(*sides, name="pairs")


def _given(scope: Scope, shape: LogShape, ids: Sequence[str]) -> CTE:
    """Every retrieval of the scope's window that injected one of these observations, each once."""
    log = shape.rows(scope)
    return (
        select(log.c.observation_id, log.c.retrieval, log.c.session_id)
        .where(log.c.observation_id == any_(uuids(ids)), log.c.injected)
        .group_by(log.c.observation_id, log.c.retrieval, log.c.session_id)
        .cte("given")
    )


@dataclass(frozen=True)
class Injections:
    """In how many retrievals of the window each observation was injected; one that never was has no entry."""

    scope: Scope
    ids: tuple[str, ...]
    shape: LogShape = COMPLETE_SHAPE

    def statement(self) -> Select[Any]:
        """By observation, through the log's index on it."""
        given = _given(self.scope, self.shape, self.ids)
        columns: tuple[ColumnElement[Any], ...] = (given.c.observation_id.cast(Text), func.count())
        return select(*columns).group_by(given.c.observation_id)

    def ask(self, connection: Connection) -> dict[str, int]:
        """By id."""
        return {name: int(count) for name, count in connection.execute(self.statement())} if self.ids else {}


@dataclass(frozen=True)
class SessionsGivenBoth:
    """How many sessions of the window were given both statements of a pair; a pair without one has no entry."""

    scope: Scope
    pairs: tuple[Pair, ...]
    shape: LogShape = COMPLETE_SHAPE

    def statement(self) -> Select[Any]:
        """Sessions are intersected in the database: a log never travels to be counted."""
        given = _given(self.scope, self.shape, sorted({id_ for pair in self.pairs for id_ in pair}))
        sessions = select(given.c.observation_id, given.c.session_id).distinct().cte("sessions")
        pairs = paired(self.pairs)
        one, other = sessions.alias("one"), sessions.alias("other")
        columns: tuple[ColumnElement[Any], ...] = (pairs.c.older.cast(Text), pairs.c.newer.cast(Text), func.count())
        return (
            select(*columns)
            .select_from(
                pairs.join(one, one.c.observation_id == pairs.c.older).join(
                    other, (other.c.observation_id == pairs.c.newer) & (other.c.session_id == one.c.session_id)
                )
            )
            .group_by(pairs.c.older, pairs.c.newer)
        )

    def ask(self, connection: Connection) -> dict[Pair, int]:
        """By both ids, the older first."""
        if not self.pairs:
            return {}
        return {(older, newer): int(count) for older, newer, count in connection.execute(self.statement())}
