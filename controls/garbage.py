"""Unreachable memory, looked for once a second at most: after every run, as Streamlit does it, it doubles the cost."""

from __future__ import annotations

import gc
import time

EVERY = 1.0  # seconds; what is lost between two looks is what a second of reruns leaves behind


class Collection:
    """The collector of this process: what is imported is never looked at, the rest now and again."""

    def __init__(self) -> None:
        gc.collect()
        gc.freeze()
        self._last = time.monotonic()

    def tidy(self) -> bool:
        """Collect where the last time was long enough ago; whether it was."""
        now = time.monotonic()
        if now - self._last < EVERY:
            return False
        self._last = now
        gc.collect()
        return True
