"""Connections that wait little: a deadline of their own, a ping after a pause, statements that travel together."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import errors as pg
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format, TransactionStatus
from psycopg.rows import tuple_row
from psycopg.types.string import TextBinaryLoader
from sqlalchemy import QueuePool, event, exc, text

from queries.errors import DeadlineError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import LiteralString, Self

    from psycopg.abc import AdaptContext, PQGen
    from psycopg.pq.abc import PGconn
    from psycopg.rows import RowFactory
    from sqlalchemy import Engine
    from sqlalchemy.pool import ConnectionPoolEntry

    Key = tuple[bytes, tuple[int, ...]]  # text and types of parameters
    Spoken = tuple[LiteralString, Sequence[Any]]  # text and parameters
    Sending = Callable[[], object]

INVALID_OID = 0  # stands for every type without a loader of its own
ALONE: tuple[Sequence[Sending], Sequence[Sending]] = ((), ())  # no company
GRACE = 2.0  # the server ends a statement at its limit; only a frozen one is still silent this much later
PING = 1.0
# A connection that answered less than so many seconds ago is not asked again whether it does: eight callers of one
# process spent a tenth of their time on it. One that died meanwhile is replaced as its first statement fails.
PAUSE = 1.0

RV = TypeVar("RV")


class WireVector(bytes):
    """A vector as it travels: its dimensions, two unused bytes, and float32 in network order."""


class _WireVectorDumper(Dumper):
    """Bytes as they are; of which type they are the statement says, for each database numbers that type by itself."""

    format = Format.BINARY

    def dump(self, obj: WireVector) -> bytes:
        return obj


class _UtcLoader(Loader):
    """Moments in UTC, whatever zone the server is in.

    psycopg takes the zone that the connection has as an answer is read, and by then the end of the snapshot that
    set UTC may have been told along. What is made is psycopg's own loader of no connection: a loader written here
    took five times as long.
    """

    def __new__(cls, oid: int, context: AdaptContext | None = None) -> Loader:  # type: ignore[misc] # noqa: ARG004
        """The loader that psycopg would take, which knows no connection and so no zone but UTC."""
        plain: type[Loader] = psycopg.adapters.get_loader(oid, cls.format)  # type: ignore[assignment]
        return plain(oid, None)


class _UtcBinaryLoader(_UtcLoader):
    format = Format.BINARY


class TogetherCursor(psycopg.Cursor[Any]):
    """A cursor whose statement takes along what its connection was told to send with the next one."""

    def execute(self, *given: Any, **options: Any) -> Self:  # noqa: ANN401 - psycopg's own
        """Run a statement and its company in one round trip; the first of them that fails is raised."""
        connection: DeadlineConnection = self.connection  # type: ignore[assignment]
        ahead, behind = connection.company
        if connection.is_over:
            raise psycopg.ProgrammingError("the snapshot ended with its last statement")
        if not ahead and not behind:
            return super().execute(*given, **options)
        connection.company, connection.is_over = ALONE, bool(behind)
        try:
            with connection.pipeline():
                for told in ahead:
                    told()
                super().execute(*given, **options)
                for told in behind:
                    told()
        finally:
            if connection.pgconn.pipeline_status:
                # Cut while answers were read, psycopg can neither leave the pipeline nor see that nobody is there.
                connection.pgconn.finish()
        return self

    def executemany(self, *given: Any, **options: Any) -> None:  # noqa: ANN401 - psycopg's own
        """Only without company, which would travel with none of them."""
        connection: DeadlineConnection = self.connection  # type: ignore[assignment]
        if connection.is_over or connection.company != ALONE:
            raise psycopg.ProgrammingError("a snapshot of one statement is asked one")
        super().executemany(*given, **options)


class DeadlineConnection(psycopg.Connection[Any]):
    """A connection that gives up on a server which neither answers nor closes.

    No server-side timeout helps against a stopped process or a network that swallows packets: only the client can
    stop waiting. The socket is closed then, because its protocol state is unknown.
    """

    deadline: float = 5.0 + GRACE

    def __init__(self, pgconn: PGconn, row_factory: RowFactory[Any] = tuple_row) -> None:
        super().__init__(pgconn, row_factory)
        self.adapters.register_dumper(WireVector, _WireVectorDumper)
        # words of a type that psycopg does not know, as a platform's own, are text as they are in every other answer
        self.adapters.register_loader(INVALID_OID, TextBinaryLoader)
        for utc in (_UtcLoader, _UtcBinaryLoader):
            self.adapters.register_loader("timestamptz", utc)  # type: ignore[type-abstract] # makes another
        # statements that rounds have prepared, and their names on the server
        self.named: dict[Key, bytes] = {}
        self.company: tuple[Sequence[Sending], Sequence[Sending]] = ALONE
        self.is_over = False  # outside a transaction a statement would see nothing, and say nothing of that
        self.cursor_factory = TogetherCursor

    def accompany(self, ahead: Sequence[Spoken], behind: Sequence[Spoken] = ()) -> list[psycopg.Cursor[Any]]:
        """Let the next statement take others along, before and behind it; the cursors that will hold their answers.

        One that begins or ends a transaction needs ``autocommit``: else psycopg begins one in a round trip of its own.
        """
        cursors = [psycopg.Cursor(self) for _ in (*ahead, *behind)]
        sends = [
            partial(cursor.execute, words, values)
            for cursor, (words, values) in zip(cursors, (*ahead, *behind), strict=True)
        ]
        self.company = (sends[: len(ahead)], sends[len(ahead) :])
        return cursors

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Wait for the server, at most until the deadline."""
        try:
            return super().wait(gen, interval, self.deadline if timeout is None else timeout)
        except pg._WaitTimeout as late:  # noqa: SLF001 - the only name psycopg gives this error
            self.pgconn.finish()
            raise DeadlineError("no answer within the client's deadline") from late


class PeakPool(QueuePool):
    """A pool that remembers the most connections that were in use at once, and when: a moment shows hardly any."""

    _sqla_logger_namespace = "sqlalchemy.pool.impl.QueuePool"  # named after our module it would log as we do, at info

    def __init__(self, *given: Any, **options: Any) -> None:  # noqa: ANN401 - the pool's own
        super().__init__(*given, **options)
        self.most = 0
        self.most_at: datetime | None = None
        self._counting = threading.Lock()

    @property
    def room(self) -> int:
        """How many it may open."""
        return self.size() + self._max_overflow

    def note(self) -> None:
        """Count what is in use now."""
        with self._counting:
            if (used := self.checkedout()) > self.most:
                self.most, self.most_at = used, datetime.now(UTC)


def remember_most(engine: Engine) -> None:
    """Let an engine's pool count whenever it hands out a connection."""

    def taken(*_: object) -> None:
        if isinstance(engine.pool, PeakPool):
            engine.pool.note()

    event.listen(engine, "checkout", taken)


def ping_after_a_pause(engine: Engine) -> None:
    """Let a pool hand out a connection that was idle only after it answered; if it does not, none of them is used."""

    def put_back(raw: DeadlineConnection | None, record: ConnectionPoolEntry) -> None:
        if raw is not None:
            # The ping before the next use must not wait as long as the last question was allowed to.
            raw.deadline = PING
            raw.company, raw.is_over = ALONE, False  # it may be of a statement that was never sent
            if raw.info.transaction_status == TransactionStatus.IDLE:
                raw.autocommit = False  # as whoever does not ask for it expects
            record.info["used"] = time.monotonic()

    found_dead = 0.0

    def died(_raw: DeadlineConnection, _record: ConnectionPoolEntry, _error: BaseException | None) -> None:
        nonlocal found_dead
        found_dead = time.monotonic()

    def taken(raw: DeadlineConnection, record: ConnectionPoolEntry, _proxy: object) -> None:
        used = record.info.pop("used", None)
        # Where one has died since, the others have probably died with it.
        if used is None or used > max(time.monotonic() - PAUSE, found_dead):
            return
        try:
            engine.dialect.do_ping(raw)  # type: ignore[arg-type]
        except psycopg.Error as error:
            raise exc.InvalidatePoolError from error

    event.listen(engine, "checkin", put_back)
    event.listen(engine, "checkout", taken)
    event.listen(engine, "invalidate", died)


def answers(engine: Engine, *, limit: float) -> bool:
    """Whether the server answers ``select 1`` within a limit in seconds."""
    try:
        with engine.connect() as connection:
            raw: DeadlineConnection = connection.connection.driver_connection  # type: ignore[assignment]
            raw.deadline = limit
            return bool(connection.execute(text("select 1")).scalar_one() == 1)
    except exc.SQLAlchemyError:
        return False
