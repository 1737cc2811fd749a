"""What the application cares for as it serves: the embedded server, its aggregator, and whether the store answers."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import TYPE_CHECKING

from jobs.companion import Companion
from queries import embedded
from queries.connections import answers
from queries.engine import Store, make_engine
from queries.errors import StoreError
from queries.log_writers import log_totals

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Engine

    import settings

log = logging.getLogger("rankscope.app")
CARE_INTERVAL = 5.0  # seconds


class Care:
    """Keeps the embedded server and its aggregator running, and knows whether the store answers."""

    def __init__(self, chosen: settings.Settings) -> None:
        self.chosen = chosen
        self.lease: embedded.Lease | None = None
        self.aggregator: Companion | None = None
        self.probe: Engine | None = None
        self.asking: asyncio.Task[bool] | None = None
        self.log_totals: dict[str, int] | None = None
        self.over = False
        self._lock = threading.Lock()  # whoever ends waits for a start that is under way, and none comes after it

    async def keep(self) -> None:
        """See to it, now and again, that the server has its keeper, which may be killed like any other process."""
        while True:
            await asyncio.to_thread(self.read_log_totals)
            await asyncio.sleep(CARE_INTERVAL)
            await asyncio.to_thread(self.attend)

    def attend(self) -> None:
        """Start what is not running; the application serves all the same, and its pages say what is wrong.

        What fails is logged and tried again the next time: an error that ended the task would be seen by nobody.
        """
        with self._lock:
            if not self.over:
                self._attend()

    def _attend(self) -> None:
        try:
            if self.chosen.database_url is None:
                self.lease = self.lease or embedded.start(self.chosen.data_folder)
                self.lease.ensure()
                self.aggregator = self.aggregator or _aggregator(self.chosen.data_folder, self.lease.home)
                self.aggregator.attend()
            if self.probe is None:
                url = self.lease.url("dash_read", embedded.DATABASE) if self.lease else self.chosen.database_url
                # Connections of its own, so that busy pages cannot make a healthy store look dead: one for the
                # question whether it answers, one for what the log's writers reported.
                self.probe = make_engine(url or "", name="rankscope readyz", pool=2, overflow=0)
        except embedded.EmbeddedError as error:
            log.error("embedded store: %s", error)  # noqa: TRY400 - the sentence is the message
        except StoreError as error:
            log.error("store: %s", error.kind)  # noqa: TRY400 - same
        except OSError as error:
            log.error("embedded store: %s", error.strerror)  # noqa: TRY400 - same

    def read_log_totals(self) -> None:
        """Look up what processes that log retrievals reported; never while someone waits for an answer."""
        self.log_totals = None if self.probe is None else log_totals(Store(self.probe), limit=1.0)

    async def is_ready(self) -> bool:
        """Whether the store answers within a second; however many ask, one of them asks the store."""
        if self.probe is None:
            return False
        if self.asking is None or self.asking.done():
            self.asking = asyncio.create_task(asyncio.to_thread(answers, self.probe, limit=1.0))
        done, _ = await asyncio.wait({self.asking}, timeout=1.0)
        return bool(done) and self.asking.result()

    def end(self) -> None:
        """Let go of the store, and stop the server if it was ours, after what works with it."""
        with self._lock:
            self.over = True
        if self.aggregator is not None:
            self.aggregator.end()
        if self.probe is not None:
            self.probe.dispose()
        if self.lease is not None:
            self.lease.release()


def _aggregator(folder: Path, home: Path) -> Companion:
    arguments = ("aggregate", "--every", "60", "--beside", str(folder.resolve()))
    return Companion("aggregation", arguments, home / "aggregation.log")
