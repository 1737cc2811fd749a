"""Health's shares day by day over the window and the one before it."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

    from queries.scope import Scope

# Measure: the answer that holds its days, the part and the whole.
DAILY = {
    "accepted": ("ended_by_day", "accepted", "judged"),
    "coverage": ("logged_by_day", "complete", "retrievals"),
}


TOGETHER = 7  # days: one alone has few sessions, and a weekend fewer


class DayShare(NamedTuple):
    """A day with its share in percent, no number where it has nothing, and what that is formed of.

    ``of_week`` is the share of this day and the six before it together.
    """

    day: datetime
    share: float
    part: float
    whole: float
    of_week: float


def shares_by_day(name: str, frames: dict[str, pd.DataFrame], scope: Scope) -> list[DayShare]:
    """A measure on each day of both windows; nothing if no day has any."""
    answer, part, whole = DAILY[name]
    days = frames.get(answer)
    if days is None or not days[whole].any():
        return []
    known = {day: (some, all_) for day, some, all_ in zip(days["day"], days[part], days[whole], strict=True)}
    found: list[DayShare] = []
    first = scope.before().since
    for number in range(2 * scope.days):
        day = first + timedelta(days=number)
        some, all_ = known.get(day, (0, 0))
        last = found[-(TOGETHER - 1) :]
        week = _share(some + sum(each.part for each in last), all_ + sum(each.whole for each in last))
        found.append(DayShare(day, _share(some, all_), some, all_, week))
    return found


def _share(part: float, whole: float) -> float:
    return 100 * part / whole if whole else math.nan
