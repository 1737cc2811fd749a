"""How Rankscope talks to Postgres: short read-only transactions in one principal's reach, each with a deadline."""

from __future__ import annotations

import json
import logging
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import psycopg
from psycopg import IsolationLevel
from sqlalchemy import create_engine, exc, text
from sqlalchemy.engine import make_url

from queries.connections import GRACE, DeadlineConnection, PeakPool, ping_after_a_pause, remember_most
from queries.errors import BAD_ADDRESS, NO_WRITER, DeadlineError, StoreError, store_error
from queries.version import moment

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence
    from datetime import datetime

    import pandas as pd
    from sqlalchemy import URL, Connection, Engine, Executable

    from queries.scope import Reach, Scope

    Mode = tuple[IsolationLevel, bool | None]
    Local = Mapping[str, str] | None

log = logging.getLogger("rankscope.store")

LIST, AGGREGATE = 1.0, 5.0  # seconds that a list and an aggregate may take
SNAPSHOT = 8.0  # seconds that all questions of one snapshot may take together
CONNECT = 3.0
POOL_WAIT = 5.0

# Transaction-local (true): a setting for the session would be inherited by whoever gets the connection next.
SET_LOCAL = text("select set_config(key, value, true) from json_each_text(cast(:settings as json))")

# How a transaction begins, told as it begins: a statement of its own would cost a round trip.
SNAPSHOTS = (IsolationLevel.REPEATABLE_READ, True)
# A change has to see what those committed whom it waited for; a store that is set to read-only stays so.
CHANGES = (IsolationLevel.READ_COMMITTED, None)

PREPARED_AFTER = 5  # psycopg's own: changes of one kind follow one another

# Repeated here because a login that is not one of our roles has none of them set; times are told in UTC.
LIMITS = {
    "lock_timeout": "1000",
    "idle_in_transaction_session_timeout": "10000",
    "client_connection_check_interval": "1000",
    "TimeZone": "UTC",
}

# Changes wait for one another instead of refusing at once: each holds its locks for milliseconds.
WRITE_LIMITS = {"lock_timeout": "5000"}


class Question(Protocol):
    """A query as a value: its fields are the parameters, ``statement()`` is pure, ``row`` types the answer."""

    row: ClassVar[type]
    limit: ClassVar[float]

    @property
    def scope(self) -> Scope:
        """What the question is asked of."""
        ...

    def statement(self) -> Executable:
        """The SQL, with every value bound."""
        ...


def make_engine(url: str, *, name: str, pool: int = 8, overflow: int = 4) -> Engine:
    """An engine with the pool, timeouts and deadline that every page relies on; ``name`` shows in pg_stat_activity."""
    target = _target(url)

    def connect() -> psycopg.Connection[Any]:
        options = target.translate_connect_args(username="user", database="dbname") | dict(target.query)
        options.setdefault("connect_timeout", str(int(CONNECT)))
        options.setdefault("application_name", name)
        return DeadlineConnection.connect(**options)

    engine = create_engine(
        target,
        creator=connect,
        poolclass=PeakPool,
        pool_size=pool,
        max_overflow=overflow,
        pool_timeout=POOL_WAIT,
        pool_recycle=300,
        hide_parameters=True,
    )
    ping_after_a_pause(engine)
    remember_most(engine)
    return engine


def _target(url: str) -> URL:
    try:
        target = make_url(url)
    except (exc.ArgumentError, ValueError):
        # Not "from": the error quotes the address, which may hold a password.
        raise StoreError("address", BAD_ADDRESS) from None
    if target.get_backend_name() not in ("postgresql", "postgres"):
        raise StoreError("address", BAD_ADDRESS)
    return target.set(drivername="postgresql+psycopg")


class Store:
    """A store that can be asked questions; ``writer`` is absent where Rankscope may only read."""

    def __init__(self, reader: Engine, writer: Engine | None = None) -> None:
        self.reader = reader
        self.writer = writer

    @contextmanager
    def reading(
        self, reach: Reach, limit: float = AGGREGATE, principal: str = "", name: str | None = None, more: Local = None
    ) -> Iterator[Connection]:
        """One read-only snapshot in one reach: figures taken inside agree with each other.

        ``name`` shows in pg_stat_activity for as long as the snapshot is open; ``more`` are settings inside it.
        """
        settings = self.reading_settings(reach, limit, principal, name, more)
        with sentences():
            connection = _prepared(self.reader, settings, limit, SNAPSHOTS)
            try:
                yield connection
            finally:
                _give_back(connection)

    def reading_settings(
        self, reach: Reach, limit: float, principal: str = "", name: str | None = None, more: Local = None
    ) -> dict[str, str]:
        """What every read-only snapshot sets; reach and limits come last, so that nothing replaces them."""
        settings = {
            **(more or {}),
            **LIMITS,
            **reach.settings(),
            "dash.principal": principal,
            "statement_timeout": _milliseconds(limit),
        }
        return settings if name is None else settings | {"application_name": f"rankscope {name}"}

    @contextmanager
    def writing(
        self, reach: Reach, limit: float = AGGREGATE, name: str | None = None, more: Local = None
    ) -> Iterator[Connection]:
        """One transaction that may write in one reach, committed if nothing is raised inside.

        Never repeated once begun: whether a cut connection had committed is for whoever knows the change to find out.
        """
        if self.writer is None:
            raise StoreError("no_writer", NO_WRITER)
        limits = {**LIMITS, **WRITE_LIMITS, **(more or {}), "statement_timeout": _milliseconds(limit)}
        settings = limits | reach.settings()
        if name is not None:
            settings["application_name"] = f"rankscope {name}"
        with sentences():
            connection = _prepared(self.writer, settings, limit, CHANGES)
            try:
                yield connection
                connection.commit()
            finally:
                _give_back(connection)

    def ask(self, question: Question) -> pd.DataFrame:
        """The answer to one question, as a frame typed by its row."""
        return self.ask_all(question)[0][0]

    def ask_all(self, *questions: Question) -> tuple[list[pd.DataFrame], datetime]:
        """The answers to questions of one reach, all from one snapshot, and the moment it was taken.

        A connection that is cut meanwhile is replaced and all are asked once more: reading is safe to repeat.
        """
        try:
            return self._ask(questions)
        except StoreError as error:
            if error.kind == "silent" or not _was_cut(error):
                raise
            return self._ask(questions)

    def _ask(self, questions: Sequence[Question]) -> tuple[list[pd.DataFrame], datetime]:
        started = time.monotonic()
        first, name = questions[0], type(questions[0]).__name__
        with self.reading(first.scope.reach, first.limit, name=name) as connection:
            answers = []
            for question in questions:
                left = max(SNAPSHOT - (time.monotonic() - started), 0.1)
                limit_statement(connection, min(question.limit, left))
                answers.append(ask(connection, question))
            return answers, moment(connection)

    def close(self) -> None:
        """Let go of every connection."""
        self.reader.dispose()
        if self.writer is not None:
            self.writer.dispose()


def ask(connection: Connection, question: Question) -> pd.DataFrame:
    """The answer to a question inside a snapshot that is already open; one log line, never a value."""
    from queries.frames import frame  # noqa: PLC0415 - pandas takes half a second that jobs need not wait for

    name = type(question).__name__
    started = time.perf_counter()
    rows: list[Any] | None = None
    state = "ok"
    try:
        rows = [tuple(row) for row in connection.execute(question.statement())]
    except exc.DBAPIError as error:
        state = store_error(error).sqlstate or "none"
        raise
    finally:
        spent = (time.perf_counter() - started) * 1000
        log.info("query name=%s ms=%.1f rows=%s state=%s", name, spent, "-" if rows is None else len(rows), state)
    return frame(rows, question.row)


def _give_back(connection: Connection) -> None:
    """End the snapshot; a connection that died after its last answer takes nothing away from that answer."""
    with suppress(exc.DBAPIError):
        connection.close()


def set_local(connection: Connection, settings: Mapping[str, str]) -> None:
    """Settings for the rest of this transaction."""
    connection.execute(SET_LOCAL, {"settings": json.dumps(settings)})


def limit_statement(connection: Connection, limit: float) -> None:
    """Let the next statement of this transaction take so many seconds, and the client wait little longer."""
    raw: DeadlineConnection = connection.connection.driver_connection  # type: ignore[assignment]
    raw.deadline = limit + GRACE
    set_local(connection, {"statement_timeout": _milliseconds(limit)})


def _prepared(engine: Engine, settings: dict[str, str], limit: float, mode: Mode, *, again: bool = True) -> Connection:
    connection = engine.connect()
    try:
        _prepare(connection, settings, limit, mode)
    except exc.DBAPIError as error:
        _give_back(connection)
        # The server may have gone since the connection was last used; nothing was done yet, so begin anew once.
        if again and error.connection_invalidated and not isinstance(error.orig, DeadlineError):
            return _prepared(engine, settings, limit, mode, again=False)
        raise
    return connection


def _prepare(connection: Connection, settings: dict[str, str], limit: float, mode: Mode) -> None:
    raw: DeadlineConnection = connection.connection.driver_connection  # type: ignore[assignment]
    raw.deadline = limit + GRACE
    raw.isolation_level, raw.read_only = mode
    # A snapshot ends in a rollback, with which psycopg has the server forget what it prepared itself, and all else.
    raw.prepare_threshold = None if mode is SNAPSHOTS else PREPARED_AFTER
    set_local(connection, settings)


def _milliseconds(seconds: float) -> str:
    return str(int(seconds * 1000))


def answers(engine: Engine, *, limit: float) -> bool:
    """Whether the server answers ``select 1`` within a limit in seconds."""
    try:
        with engine.connect() as connection:
            raw: DeadlineConnection = connection.connection.driver_connection  # type: ignore[assignment]
            raw.deadline = limit
            return bool(connection.execute(text("select 1")).scalar_one() == 1)
    except exc.SQLAlchemyError:
        return False


@contextmanager
def sentences() -> Generator[None]:
    """Whatever goes wrong with the store inside comes out as a ``StoreError``."""
    try:
        yield
    except (exc.SQLAlchemyError, psycopg.Error) as error:
        raise store_error(error) from error


def _was_cut(error: StoreError) -> bool:
    cause = error.__cause__
    return isinstance(cause, exc.DBAPIError) and cause.connection_invalidated
