"""A cheap number that changes whenever the platform's tables do, so that cached figures know when they are old."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

# Row counters cost nothing at any size, unlike max() and count(). They start anew after a crash, hence the start time;
# a standby counts nothing that it replays, hence the place it has reached. They do not count a truncate.
DATA_VERSION = text(
    """select md5(concat_ws('/', pg_postmaster_start_time(), sum(n_tup_ins), sum(n_tup_upd), sum(n_tup_del),
                          case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end))
         from pg_stat_user_tables where schemaname in ('public', 'rankscope')"""
)


def data_version(connection: Connection) -> str:
    """Changes when rows were inserted, updated or deleted: within a second or, for a busy writer's last ones, ten."""
    return str(connection.execute(DATA_VERSION).scalar_one())


def moment(connection: Connection) -> datetime:
    """When the snapshot of this connection was taken, by the server's clock."""
    taken: datetime = connection.execute(text("select now()")).scalar_one()
    return taken
