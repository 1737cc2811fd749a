"""The pool's end of one worker process: start it, ask it, hear it out, end it."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
STARTING = 30.0  # seconds that a busy machine may take to import what a worker needs
# Several threads in one task would gain little on a shared machine and take the cores from the pages.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class GoneError(Exception):
    """The process ended before it was done."""


class StartError(Exception):
    """The process did not come up."""


class LateError(Exception):
    """The process was still at it when its time was up."""


class WorkerProcess:
    """One warm process; killing it is safe at any time, and frees whoever waits for it."""

    def __init__(self, registry: str, address: str) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - our own module, no shell
            [sys.executable, "-m", "jobs.worker", registry],
            cwd=ROOT,
            env=os.environ | ONE_THREAD,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # A group of its own, so that what it starts ends with it, and an interrupt is the application's to handle.
            start_new_session=True,
        )
        self._heard: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._listen, name="worker pipe", daemon=True).start()
        try:
            self._write({"store": address})
            self._message(time.monotonic() + STARTING)
        except (GoneError, LateError):
            self.kill()
            raise StartError from None

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self.process.poll() is None

    def ask(self, request: dict[str, Any], limit: float) -> Iterator[dict[str, Any]]:
        """Every message about one task, the last being its value or its failure."""
        self._write(request)
        until = time.monotonic() + limit
        while True:
            message = self._message(until)
            yield message
            if "value" in message or "failed" in message:
                return

    def kill(self) -> None:
        """End it with everything it started; the server ends its statement when the connection is gone."""
        with suppress(ProcessLookupError, PermissionError):
            if self.alive:  # else the number may be another's by now
                os.killpg(self.process.pid, signal.SIGKILL) if hasattr(os, "killpg") else self.process.kill()
        self.process.wait()
        with suppress(OSError):
            if self.process.stdin is not None:
                self.process.stdin.close()

    def _write(self, message: dict[str, Any]) -> None:
        if self.process.stdin is None:
            raise GoneError
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except (OSError, ValueError):
            raise GoneError from None

    def _message(self, until: float) -> dict[str, Any]:
        try:
            line = self._heard.get(timeout=max(until - time.monotonic(), 0.0))
        except queue.Empty:
            raise LateError from None
        if not line.endswith(b"\n"):  # nothing more, or cut in the middle
            raise GoneError
        message: dict[str, Any] = json.loads(line)
        return message

    def _listen(self) -> None:
        if self.process.stdout is not None:
            with self.process.stdout as pipe:
                for line in pipe:
                    self._heard.put(line)
        self._heard.put(b"")
