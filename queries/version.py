"""A cheap number that changes whenever the platform's tables do, so that cached figures know when they are old."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

# Row counters cost nothing at any size, unlike max() and count(); they start anew after a crash, hence the start time.
DATA_VERSION = text(
    """select md5(concat(pg_postmaster_start_time(), '/', sum(n_tup_ins), '/', sum(n_tup_upd), '/', sum(n_tup_del)))
         from pg_stat_user_tables where schemaname in ('public', 'rankscope')"""
)


def data_version(connection: Connection) -> str:
    """Changes within about a second of any committed insert, update or delete."""
    return str(connection.execute(DATA_VERSION).scalar_one())


def moment(connection: Connection) -> datetime:
    """When the snapshot of this connection was taken, by the server's clock."""
    taken: datetime = connection.execute(text("select now()")).scalar_one()
    return taken
