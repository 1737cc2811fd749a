"""The owner's login: what jobs use to migrate, grant and fill. No page ever does."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
from alembic.util import CommandError
from psycopg import sql
from sqlalchemy import event, exc, text

from queries.engine import make_engine
from queries.errors import StoreError, store_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

    from queries.connections import DeadlineConnection

PATIENCE = 1_800.0  # seconds one statement of a migration or a load may take: a graph over a million vectors is slow

NEWER = "This store was migrated by a newer Rankscope. Use that version, or a store of its own."


def open_engine(url: str) -> Engine:
    """An engine with a single connection for a job."""
    return make_engine(url, name="rankscope jobs", pool=1, overflow=0)


@contextmanager
def owning(url: str) -> Iterator[Engine]:
    """An engine with one patient connection, closed afterwards; what goes wrong inside comes out as a StoreError."""
    engine = open_engine(url)
    event.listen(engine, "checkout", _be_patient)
    try:
        yield engine
    except CommandError as error:
        raise StoreError("revision", NEWER) from error
    except (exc.SQLAlchemyError, psycopg.Error) as error:
        raise store_error(error) from error
    finally:
        engine.dispose()


def create_database(engine: Engine, name: str) -> bool:
    """Create a database if the server lacks it, and return whether it did."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if connection.execute(text("select 1 from pg_database where datname = :name"), {"name": name}).first():
            return False
        raw: DeadlineConnection = connection.connection.driver_connection  # type: ignore[assignment]
        try:
            raw.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        except psycopg.errors.DuplicateDatabase:
            return False
        return True


def _be_patient(raw: DeadlineConnection, _record: object, _proxy: object) -> None:
    raw.deadline = PATIENCE
