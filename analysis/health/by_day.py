"""Health's shares day by day over the window and the one before it."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from analysis.health.change import is_chance
from analysis.health.organizations import FALSE, by_chance

if TYPE_CHECKING:
    from collections.abc import Sequence
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


class Dip(NamedTuple):
    """The worst seven days of the window before, by their last; their share in percent, and that of the others."""

    last: datetime
    share: float
    others: float


def dip(days: Sequence[DayShare], since: datetime) -> Dip | None:
    """Seven days but for which this window is no better than the one before; none where chance could have made them.

    Of all weeks the one that chance explains least, which the lowest need not be: it may have had one session. It is
    held against chance in as many as were looked at. A window before of less than two weeks has no others to speak of.
    """
    before = [each for each in days if each.day < since]
    if len(before) < 2 * TOGETHER:
        return None
    past, now = _sum(before), _sum([each for each in days if each.day >= since])
    ends = range(TOGETHER, len(before) + 1)
    weeks = [_sum(before[end - TOGETHER : end]) for end in ends]
    without = [(past[0] - part, past[1] - whole) for part, whole in weeks]
    chances = by_chance(list(zip(without, weeks, strict=True)))
    lower = [place for place, week in enumerate(weeks) if _share(*week) < _share(*without[place])]
    if not lower or not now[1]:
        return None
    worst = min(lower, key=lambda place: (chances[place], _share(*weeks[place])))
    if chances[worst] * len(weeks) > FALSE:
        return None
    low, others = _share(*weeks[worst]), _share(*without[worst])
    is_better = _share(*now) > others and not is_chance(now, without[worst])
    return None if is_better else Dip(before[ends[worst] - 1].day, low, others)


def _sum(days: Sequence[DayShare]) -> tuple[int, int]:
    return round(sum(each.part for each in days)), round(sum(each.whole for each in days))


def _share(part: float, whole: float) -> float:
    return 100 * part / whole if whole else math.nan
