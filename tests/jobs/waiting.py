"""Waiting for what another process does."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def wait_until(happened: Callable[[], bool], limit: float = 30.0) -> None:
    until = time.monotonic() + limit
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.02)
