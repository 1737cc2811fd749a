"""When a job that goes on for ever should end: it was told to, or whoever started it is gone."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import FrameType


class Ending:
    """Hears SIGTERM and, if asked to, the end of standard input, without cutting short what is being done.

    Standard input ends with the process that holds its other end, also when that was killed: nothing else tells a
    child on every system.
    """

    def __init__(self, *, with_input: bool) -> None:
        self._told = False
        self._with_input = with_input

    def __enter__(self) -> Self:
        self._bell, self._rope = os.pipe()
        os.set_blocking(self._rope, False)
        self._rope_before = signal.set_wakeup_fd(self._rope, warn_on_full_buffer=False)
        self._before = signal.signal(signal.SIGTERM, self._tell)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGTERM, self._before)
        signal.set_wakeup_fd(self._rope_before)
        os.close(self._bell)
        os.close(self._rope)

    @property
    def has_come(self) -> bool:
        """Whether to begin nothing new."""
        return self.comes_within(0)

    def comes_within(self, seconds: float) -> bool:
        """Wait so long, or until it is time to end, and say whether it is."""
        until = time.monotonic() + seconds
        while not self._told:
            left = max(until - time.monotonic(), 0)
            watched = [self._bell, *([sys.stdin.fileno()] if self._with_input else [])]
            heard = select.select(watched, [], [], left)[0]
            if self._bell in heard:
                os.read(self._bell, 512)  # a signal, though perhaps another one
            elif heard:
                self._told = os.read(sys.stdin.fileno(), 512) == b""
            elif left == 0:
                break
        return self._told

    def _tell(self, _number: int, _frame: FrameType | None) -> None:
        self._told = True
