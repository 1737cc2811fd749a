"""Health's shares day by day over the window and the one before it."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from queries.scope import Scope

# Measure: the answer that holds its days, the part and the whole.
DAILY = {
    "accepted": ("ended_by_day", "accepted", "judged"),
    "coverage": ("logged_by_day", "complete", "retrievals"),
}


def shares_by_day(name: str, frames: dict[str, pd.DataFrame], scope: Scope) -> list[float]:
    """A measure in percent on each day of both windows, no number where a day has nothing; nothing if none has any."""
    answer, part, whole = DAILY.get(name, ("", "", ""))
    days = frames.get(answer)
    if days is None or days.empty:
        return []
    counts = zip(days["day"], days[part], days[whole], strict=True)
    known = {day: 100 * some / all_ for day, some, all_ in counts if all_}
    first = scope.before().since
    return [known.get(first + timedelta(days=number), math.nan) for number in range(2 * scope.days)]
