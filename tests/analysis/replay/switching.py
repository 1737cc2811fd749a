"""Sessions around a switch, for what is told of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.replay.outcomes import WEEK
from queries.replay.outcomes import SessionEndings

if TYPE_CHECKING:
    from collections.abc import Sequence

DAY = WEEK // 7


def endings(
    on: Sequence[bool], accepted: Sequence[bool], straddling: int = 0, at: Sequence[int] | None = None
) -> SessionEndings:
    """One session a day, or when it is said; some at the end saw both."""
    count = len(on)
    always, ever = np.array(on, np.bool_), np.array(on, np.bool_)
    if straddling:
        always[-straddling:], ever[-straddling:] = False, True
    times = np.arange(count) * DAY if at is None else np.array(at, np.int64)
    return SessionEndings(times, always, ever, np.array(accepted, np.bool_))
