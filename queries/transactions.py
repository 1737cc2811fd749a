"""How a transaction begins and ends: its mode, what it sets, and which statements share a round trip."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from psycopg import IsolationLevel
from sqlalchemy import exc, text

from queries.connections import GRACE, DeadlineConnection
from queries.errors import DeadlineError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection, Engine

    Mode = tuple[IsolationLevel, bool | None]

# Transaction-local (true): a setting for the session would be inherited by whoever gets the connection next.
SET_LOCAL = text("select set_config(key, value, true) from json_each_text(cast(:settings as json))")

# How a snapshot is opened and ended in the round trip of a question; its moment is told along.
BEGIN = "begin isolation level repeatable read read only"
OPEN = "select now(), count(set_config(key, value, true)) from json_each_text(cast(%s as json))"
COMMIT = "commit"

# How a transaction begins, told as it begins: a statement of its own would cost a round trip.
SNAPSHOTS = (IsolationLevel.REPEATABLE_READ, True)
# A change has to see what those committed whom it waited for; a store that is set to read-only stays so.
CHANGES = (IsolationLevel.READ_COMMITTED, None)

PREPARED_AFTER = 5  # psycopg's own: changes of one kind follow one another


def prepared(engine: Engine, settings: dict[str, str], limit: float, mode: Mode, *, again: bool = True) -> Connection:
    """A connection inside a transaction that has begun, in its own settings."""
    connection = engine.connect()
    try:
        _prepare(connection, settings, limit, mode)
    except exc.DBAPIError as error:
        give_back(connection)
        # The server may have gone since the connection was last used; nothing was done yet, so begin anew once.
        if again and error.connection_invalidated and not isinstance(error.orig, DeadlineError):
            return prepared(engine, settings, limit, mode, again=False)
        raise
    return connection


def _prepare(connection: Connection, settings: dict[str, str], limit: float, mode: Mode) -> None:
    raw = wired(connection, mode)
    raw.deadline = limit + GRACE
    if mode is SNAPSHOTS:
        raw.accompany([(BEGIN, ())])
    set_local(connection, settings)


def wired(connection: Connection, mode: Mode) -> DeadlineConnection:
    """The connection beneath, ready for a transaction of a mode; a snapshot begins by a statement of our own."""
    raw: DeadlineConnection = connection.connection.driver_connection  # type: ignore[assignment]
    raw.autocommit = mode is SNAPSHOTS
    raw.isolation_level, raw.read_only = mode
    # A snapshot ends in a rollback, with which psycopg has the server forget what it prepared itself, and all else.
    raw.prepare_threshold = None if mode is SNAPSHOTS else PREPARED_AFTER
    return raw


def set_local(connection: Connection, settings: Mapping[str, str]) -> None:
    """Settings for the rest of this transaction."""
    connection.execute(SET_LOCAL, {"settings": json.dumps(settings)})


def give_back(connection: Connection) -> None:
    """End the snapshot; a connection that died after its last answer takes nothing away from that answer."""
    with suppress(exc.DBAPIError):
        connection.close()
