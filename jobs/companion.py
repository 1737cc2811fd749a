"""A process that runs beside the application: started with it, started again when it ends, never outliving it."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

log = logging.getLogger("rankscope.companion")

ROOT = Path(__file__).resolve().parents[1]
LOG_LIMIT = 4 << 20
STEADY = 60.0  # seconds after which a companion is taken to be well: its next end is a first one
SHORTEST, LONGEST = 2.0, 300.0  # seconds between an end and the next start, doubled each time in a row
PATIENCE = 10.0  # seconds for the last piece of work, when told to end


class Companion:
    """``python -m jobs …`` beside the application; what it says goes to a file, that it ended to the application's log.

    It holds one end of a pipe and ends when the other is closed, which the system does whatever becomes of us.
    """

    def __init__(self, name: str, arguments: Sequence[str], output: Path) -> None:
        self.name = name
        self.command = [sys.executable, "-m", "jobs", *arguments]
        self.output = output
        self.process: subprocess.Popen[bytes] | None = None
        self.failures = 0
        self.started = 0.0
        self.next_start = 0.0
        self.over = False
        # The application attends and ends from two threads.
        self._lock = threading.Lock()

    @property
    def state(self) -> str:
        """What to tell whoever watches: running, or since how many ends in a row it is not."""
        process = self.process
        running = process is not None and process.poll() is None
        return (
            "running"
            if running
            else f"ended {self.failures} times, to be started again"
            if self.failures
            else "waiting"
        )

    def attend(self) -> None:
        """Start it if it is not running and its time has come; to be called now and again."""
        with self._lock:
            if self.process is not None and self.process.poll() is not None:
                self._mourn(self.process.returncode)
            if self.process is None and not self.over and time.monotonic() >= self.next_start:
                self._start()
        with suppress(FileNotFoundError):
            if self.output.stat().st_size > LOG_LIMIT:
                os.truncate(self.output, 0)

    def end(self) -> None:
        """Let it finish the piece of work it is at, but not for long: what it leaves undone is done anew next time."""
        with self._lock:
            self.over = True
            if self.process is None:
                return
            self._close_pipe()
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def _start(self) -> None:
        # Appended to, so that a truncated file does not begin with a hole.
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(  # noqa: S603 - our own module and arguments, no shell
                self.command,
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                # Not in the terminal's group: an interrupt typed there is for the application, which then ends this.
                start_new_session=True,
            )
        self.started = time.monotonic()

    def _mourn(self, code: int) -> None:
        lived = time.monotonic() - self.started
        self.failures = 1 if lived >= STEADY else self.failures + 1
        pause = min(LONGEST, SHORTEST * 2 ** (self.failures - 1))
        self.next_start = time.monotonic() + pause
        self._close_pipe()
        self.process = None
        log.error(
            "%s ended with code %d after %.0f s; starting it again in %.0f s; what it said: %s",
            self.name, code, lived, pause, self.output,
        )  # fmt: skip

    def _close_pipe(self) -> None:
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()
