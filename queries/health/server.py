"""How the database server is: version, size, connections, and how far behind a standby lies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import QueuePool, text

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


def pool_use(engine: Engine) -> str:
    """How many connections of this process are in use now, and how many it may open."""
    pool = engine.pool
    if not isinstance(pool, QueuePool):
        return "no pool"
    return f"{pool.checkedout()} of {pool.size()} in use, {max(pool.overflow(), 0)} beyond"
