"""The writer of the retrieval log: a bounded queue and one thread, so that no retrieval ever waits for its log."""

from __future__ import annotations

import atexit
import os
import random
import threading
import time
from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self
from uuid import uuid4

from queries.errors import StoreError
from queries.log_writers import WriterReport, can_report, report
from queries.retrieval_log import WriteRetrievals
from queries.scope import EVERYTHING, Reach, is_storable
from retrieval.log_counts import LogCounts, Tallies, changes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from queries.engine import Store
    from queries.retrieval_log import RetrievalLog

CAPACITY = 50_000  # candidate rows that may wait: 2 500 retrievals of 20, some 20 MB
BATCH = 4_000  # candidate rows of one transaction: beyond that its commit is a small part of it
STATEMENT = 5.0  # seconds one batch may take
RETRY_FOR = 30.0  # seconds a batch is sent again while the store is away; what comes meanwhile waits in the queue
PAUSE, LONGEST_PAUSE = 0.05, 2.0
REPORT_AFTER = 5.0  # seconds until a loss is reported by itself, when nothing is written that takes it along
DRAIN = 5.0

# Failures that pass by themselves: the same batch is sent again. What was committed unnoticed is found by its id.
PASSING = frozenset(
    {"connection", "restarting", "starting", "unreachable", "silent", "connections", "busy", "retry", "locked"}
    | {"slow", "idle", "read_only", "resources"}
)
# Failures that one retrieval can cause: the others of its batch are written without it.
OF_ONE = frozenset({"data", "conflict", "privilege", "invalid", "unknown"})


_running: set[LogWriter] = set()
_registering = threading.Lock()


def wait_for_log(org_id: str, session_id: str, limit: float) -> bool:
    """Wait until no writer of this process has anything of a session left; whether that came within the limit."""
    with _registering:
        writers = list(_running)
    until = time.monotonic() + limit
    return all(each.flush(max(until - time.monotonic(), 0), (org_id, session_id)) for each in writers)


def _size(retrieval: RetrievalLog) -> int:
    """The rows a retrieval writes: its candidates, and the injection, which is there even if nothing was found."""
    return len(retrieval.rows) + 1


class LogWriter:
    """Takes retrievals without making the caller wait or fail, and writes them from one thread, in their order.

    A full queue drops and counts. ``stop`` writes what still waits, and is called when the program ends. Make one
    after forking, not before: threads do not survive a fork.
    """

    def __init__(
        self,
        store: Store,
        reach: Reach = EVERYTHING,
        *,
        capacity: int = CAPACITY,
        retry_for: float = RETRY_FOR,
        name: str | None = None,
    ) -> None:
        self.store, self.reach = store, reach
        self.capacity, self.retry_for = capacity, retry_for
        self.id, self.name = uuid4(), name or f"process {os.getpid()}"
        self.started_at = datetime.now(UTC)
        self._changed = threading.Condition()  # guards all that follows
        self._waiting: deque[RetrievalLog] = deque()
        self._waiting_rows = 0
        self._in_hand: list[RetrievalLog] = []
        self._tallies = Tallies()
        self._ends_at: float | None = None  # when a stop that was asked for gives up
        self._thread: threading.Thread | None = None
        self._has_table = False
        with _registering:
            _running.add(self)
        atexit.register(self.stop)

    def log(self, retrieval: RetrievalLog) -> bool:
        """Whether the retrieval was queued; one without a session is not meant to be (001)."""
        if not retrieval.session_id:
            return False
        size = _size(retrieval)
        with self._changed:
            # one larger than the whole queue still gets its turn, alone
            full = bool(self._waiting) and self._waiting_rows + size > self.capacity
            if full or self._ends_at is not None:
                self._tallies.refused(retrieval.org_id, "full" if full else "stopped")
                return False
            self._waiting.append(retrieval)
            self._waiting_rows += size
            self._tallies.of(retrieval.org_id).queued += 1
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._serve, name="retrieval-log", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return True

    def counts(self) -> LogCounts:
        """How many retrievals of this process wait, were written and were lost."""
        with self._changed:
            return self._tallies.total()

    def flush(self, limit: float = DRAIN, session: tuple[str, str] | None = None) -> bool:
        """Wait until nothing waits any more, or nothing of one (org, session); whether that came within the limit."""

        def is_done() -> bool:
            waiting = (each for part in (self._in_hand, self._waiting) for each in part)
            return not any(session in (None, (each.org_id, each.session_id)) for each in waiting)

        with self._changed:
            return self._changed.wait_for(is_done, limit)

    def stop(self, limit: float = DRAIN) -> LogCounts:
        """Take no more, write what waits for so many seconds at most, and count the rest as dropped."""
        atexit.unregister(self.stop)
        with self._changed:
            if self._ends_at is None:
                self._ends_at = time.monotonic() + limit
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
        with _registering:
            _running.discard(self)
        return self.counts()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _serve(self) -> None:
        """The thread: every wait in it has an end, so that it ends soon after it is asked to."""
        while True:
            batch = self._next()
            if batch:
                self._write(batch)
            elif self._tallies.unreported:
                self._report_losses()
            with self._changed:
                self._in_hand = []
                self._changed.notify_all()
                if self._ends_at is not None and (not self._waiting or self._left() <= 0):
                    break
        with self._changed:
            self._tallies.abandoned(self._waiting, "stopped")
            self._waiting.clear()
        if self._tallies.unreported:
            self._report_losses()

    def _next(self) -> list[RetrievalLog]:
        """The oldest retrievals that fill one transaction; none when it is time to report or to end."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._waiting or self._ends_at is not None, REPORT_AFTER if self._tallies.unreported else None
            )
            batch: list[RetrievalLog] = []
            rows = 0
            while self._waiting and rows < BATCH and self._left() > 0:
                batch.append(self._waiting.popleft())
                rows += _size(batch[-1])
            self._waiting_rows -= rows
            self._in_hand = batch
            return batch

    def _left(self) -> float:
        return float("inf") if self._ends_at is None else self._ends_at - time.monotonic()

    def _write(self, batch: Sequence[RetrievalLog]) -> None:
        """Write a batch in one transaction; if one retrieval spoils it, each of them in its own."""
        kind = self._send(batch)
        if kind in OF_ONE and len(batch) > 1:
            for each in batch:
                self._write([each])
            return
        with self._changed:
            if kind is not None:
                self._tallies.failed(batch, kind)
                return
            self._tallies.written(batch)
            if not self._waiting:
                self._tallies.recovered()

    def _send(self, batch: Sequence[RetrievalLog]) -> str | None:
        """What kept a batch from being written, after trying for as long as it might pass; nothing if it was."""
        gives_up = time.monotonic() + self.retry_for
        pause = PAUSE
        while (kind := self._send_once(batch)) in PASSING:
            left = min(gives_up - time.monotonic(), self._left())
            if kind is None or left <= 0:
                break
            with self._changed:
                self._tallies.warn(kind)
                # jitter, so that processes that were cut off together do not come back together
                jitter = random.uniform(0.5, 1)  # noqa: S311 - nothing secret
                self._changed.wait_for(lambda: self._left() <= 0, min(pause * jitter, left))
            pause = min(pause * 2, LONGEST_PAUSE)
        return kind

    def _send_once(self, batch: Sequence[RetrievalLog]) -> str | None:
        try:
            if not all(self.reach.allows(each.org_id) for each in batch):
                return "privilege"
            change = WriteRetrievals(tuple(batch))
            with self.store.writing(change.reach, self._limit(), "retrieval log") as connection:
                change.apply(connection)
                if self._may_report(connection):
                    report(connection, self._reports(changes(batch)))
        except StoreError as error:
            return error.kind
        except Exception:  # noqa: BLE001 - whatever a caller handed over must not end the thread
            return "invalid"
        return None

    def _report_losses(self) -> None:
        """Say what was lost although nothing was written; where that fails too, it is said later."""
        with self._changed:
            orgs, self._tallies.unreported = self._tallies.unreported, set()
        known = {org: LogCounts() for org in orgs if is_storable(org) and self.reach.allows(org)}
        try:
            with self.store.writing(Reach.of(frozenset(known)), self._limit(), "retrieval log") as connection:
                if self._may_report(connection):
                    report(connection, self._reports(known))
        except StoreError:
            with self._changed:
                self._tallies.unreported |= orgs

    def _limit(self) -> float:
        return max(min(STATEMENT, self._left()), 0.5)

    def _may_report(self, connection: Connection) -> bool:
        # asked until it is so: someone may migrate the store meanwhile
        self._has_table = self._has_table or can_report(connection)
        return self._has_table

    def _reports(self, adding: Mapping[str, LogCounts]) -> list[WriterReport]:
        """How things stand for some organizations once this transaction is committed."""
        with self._changed:
            standing = {org: self._tallies.of(org).add(change) for org, change in adding.items()}
            failures = dict(self._tallies.failures)
        return [
            WriterReport(
                org_id=org,
                writer=self.id,
                name=self.name,
                started_at=self.started_at,
                last_failure=failures.get(org),
                **vars(counts),
            )
            for org, counts in standing.items()
        ]
