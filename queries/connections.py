"""Connections that never wait for ever: a deadline of the client's own, and a ping before one that has been idle."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import errors as pg
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.rows import tuple_row
from psycopg.types.string import TextBinaryLoader
from sqlalchemy import QueuePool, event, exc

from queries.errors import DeadlineError

if TYPE_CHECKING:
    from psycopg.abc import PQGen
    from psycopg.pq.abc import PGconn
    from psycopg.rows import RowFactory
    from sqlalchemy import Engine
    from sqlalchemy.pool import ConnectionPoolEntry

    Key = tuple[bytes, tuple[int, ...]]  # text and types of parameters

INVALID_OID = 0  # stands for every type without a loader of its own
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
        # statements that rounds have prepared, and their names on the server
        self.named: dict[Key, bytes] = {}

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
