"""How the database server is: version, size, connections, how far behind a standby lies, and our own pools."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import text

from queries.connections import PeakPool
from queries.engine import LIST

if TYPE_CHECKING:
    from sqlalchemy import Engine, TextClause

    from queries.scope import Scope

STATUS = text(
    """select current_setting('server_version'), (select extversion from pg_extension where extname = 'vector'),
              pg_postmaster_start_time(), pg_database_size(current_database()),
              (select sum(numbackends)::int from pg_stat_database),
              current_setting('max_connections')::int, pg_is_in_recovery(),
              case when pg_is_in_recovery()
                   then extract(epoch from now() - pg_last_xact_replay_timestamp())::double precision end,
              (select deadlocks from pg_stat_database where datname = current_database()),
              current_user::text"""
)


@dataclass(frozen=True)
class ServerRow:
    """One server, as the login that asks may see it."""

    version: str
    vector: str | None
    started_at: datetime
    bytes: int
    connections: int
    most_connections: int
    standby: bool
    lag_seconds: float | None
    deadlocks: int
    login: str


@dataclass(frozen=True)
class ServerStatus:
    """The server behind the pages; it holds nothing of any tenant."""

    scope: Scope
    row: ClassVar[type] = ServerRow
    limit: ClassVar[float] = LIST

    def statement(self) -> TextClause:
        """One row from the catalogue and the server's own counters."""
        return STATUS


@dataclass(frozen=True)
class PoolUse:
    """Connections of one login in this process: in use now, the most at once since its start and when, the limit."""

    now: int
    most: int
    most_at: datetime | None
    room: int


def pool_use(engine: Engine | None) -> PoolUse | None:
    """How far a login's pool was used; none where there is no such login."""
    pool = None if engine is None else engine.pool
    return PoolUse(pool.checkedout(), pool.most, pool.most_at, pool.room) if isinstance(pool, PeakPool) else None
