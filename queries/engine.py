"""How Rankscope talks to Postgres: short read-only transactions in one principal's reach, each with a deadline."""

from __future__ import annotations

import json
import logging
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from sqlalchemy import create_engine, exc
from sqlalchemy.engine import make_url

from queries.connections import GRACE, DeadlineConnection, PeakPool, ping_after_a_pause, remember_most
from queries.errors import BAD_ADDRESS, NO_WRITER, StoreError, sentences, store_error, was_cut
from queries.together import Together, rounds
from queries.transactions import BEGIN, CHANGES, COMMIT, OPEN, SNAPSHOTS, give_back, prepared, wired

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    import pandas as pd
    import psycopg
    from sqlalchemy import URL, Connection, Engine, Executable

    from queries.scope import Reach, Scope

    Local = Mapping[str, str] | None

log = logging.getLogger("rankscope.store")

T = TypeVar("T")

LIST, AGGREGATE = 1.0, 5.0  # seconds that a list and an aggregate may take
SNAPSHOT = 8.0  # seconds that all questions of one snapshot may take together
CONNECT = 3.0
POOL_WAIT = 5.0

# Repeated here because a login that is not one of our roles has none of them set; times are told in UTC, and
# as psycopg reads them: a server may write the day first.
LIMITS = {
    "lock_timeout": "1000",
    "idle_in_transaction_session_timeout": "10000",
    "client_connection_check_interval": "1000",
    "TimeZone": "UTC",
    "DateStyle": "ISO",
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
        use_native_hstore=False,  # nothing reads one, and to look for it is three round trips
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
            connection = prepared(self.reader, settings, limit, SNAPSHOTS)
            try:
                yield connection
            finally:
                give_back(connection)

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
            connection = prepared(self.writer, settings, limit, CHANGES)
            try:
                yield connection
                connection.commit()
            finally:
                give_back(connection)

    def ask(self, question: Question) -> pd.DataFrame:
        """The answer to one question, as a frame typed by its row."""
        return self.ask_all(question)[0][0]

    def ask_all(self, *questions: Question) -> tuple[list[pd.DataFrame], datetime]:
        """The answers to questions of one reach, all from one snapshot, and the moment it was taken."""
        return _twice(lambda: self._ask(questions))

    def _ask(self, questions: Sequence[Question]) -> tuple[list[pd.DataFrame], datetime]:
        """As many round trips as there are statements: the first opens the snapshot, the last ends it."""
        started = time.monotonic()
        first = questions[0]
        settings = self.reading_settings(first.scope.reach, first.limit, name=type(first).__name__)
        answers: dict[int, pd.DataFrame] = {}
        with self._lent() as (connection, raw):
            for places in rounds(questions):
                asked = [questions[place] for place in places]
                # what is asked together has the time that it would have one by one
                limit = min(sum(one.limit for one in asked), max(SNAPSHOT - (time.monotonic() - started), 0.1))
                raw.deadline = limit + GRACE
                settings["statement_timeout"] = _milliseconds(limit)
                setting = (OPEN, (json.dumps(settings),))
                ahead = [setting] if answers else [(BEGIN, ()), setting]
                ends = len(answers) + len(places) == len(questions)
                told = raw.accompany(ahead, [(COMMIT, ())] if ends else ())
                answers |= zip(places, ask_together(connection, asked), strict=True)
                taken: datetime = told[len(ahead) - 1].fetchall()[0][0]  # the same each time: the snapshot's
                settings = {}
        return [answers[place] for place in range(len(questions))], taken

    def once(
        self,
        reach: Reach,
        limit: float,
        read: Callable[[Connection], T],
        *,
        principal: str = "",
        name: str | None = None,
    ) -> T:
        """What one statement says, in one round trip; a second that ``read`` made would fail: its snapshot is over."""
        settings = self.reading_settings(reach, limit, principal, name)

        def reading() -> T:
            with self._lent() as (connection, raw):
                raw.deadline = limit + GRACE
                raw.accompany([(BEGIN, ()), (OPEN, (json.dumps(settings),))], [(COMMIT, ())])
                return read(connection)

        return _twice(reading)

    @contextmanager
    def _lent(self) -> Iterator[tuple[Connection, DeadlineConnection]]:
        with sentences():
            connection = self.reader.connect()
            try:
                yield connection, wired(connection, SNAPSHOTS)
            finally:
                give_back(connection)

    def close(self) -> None:
        """Let go of every connection."""
        self.reader.dispose()
        if self.writer is not None:
            self.writer.dispose()


def ask(connection: Connection, question: Question) -> pd.DataFrame:
    """The answer to a question inside a snapshot that is already open; one log line, never a value."""
    from queries.frames import frame  # noqa: PLC0415 - pandas takes half a second that jobs need not wait for

    return frame(_rows(connection, type(question).__name__, question.statement()), question.row)


def ask_together(connection: Connection, questions: Sequence[Question]) -> list[pd.DataFrame]:
    """The answers to questions about the same retrievals, by one statement where they are several."""
    if len(questions) == 1:
        return [ask(connection, questions[0])]
    together = Together(questions)  # type: ignore[arg-type] # what rounds puts together is
    name = " + ".join(type(question).__name__ for question in questions)
    return together.answers(_rows(connection, name, together.statement()))


def _rows(connection: Connection, name: str, statement: Executable) -> list[Any]:
    started = time.perf_counter()
    rows: list[Any] | None = None
    state = "ok"
    try:
        rows = [tuple(row) for row in connection.execute(statement)]
    except exc.DBAPIError as error:
        state = store_error(error).sqlstate or "none"
        raise
    finally:
        spent = (time.perf_counter() - started) * 1000
        log.info("query name=%s ms=%.1f rows=%s state=%s", name, spent, "-" if rows is None else len(rows), state)
    return rows


def _twice(read: Callable[[], T]) -> T:
    """If its connection is cut meanwhile it is replaced, and all read once more: reading is safe to repeat."""
    try:
        return read()
    except StoreError as error:
        if error.kind == "silent" or not was_cut(error):
            raise
        return read()


def _milliseconds(seconds: float) -> str:
    return str(int(seconds * 1000))
