"""Whether sessions are better only than seven days of the window before: then they recovered from a dip."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from analysis.health.by_day import TOGETHER
from analysis.health.change import Dip, is_chance
from analysis.health.organizations import FALSE, by_chance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import numpy.typing as npt
    import pandas as pd

    from analysis.health.change import Compared
    from analysis.intervals import Seen
    from queries.scope import Scope

    Counts = npt.NDArray[np.int64]
    Days = Mapping[datetime, Seen]

Whose = TypeVar("Whose")


def may_have_dip(each: Compared, scope: Scope) -> bool:
    """Whether it is called better, in windows of two weeks or more: a shorter one has no others to speak of."""
    return each.improved and each.seen is not None and scope.days >= 2 * TOGETHER


def seen_by_day(days: pd.DataFrame) -> dict[datetime, Seen]:
    """Sessions accepted of those with an outcome; rows of one day are added up."""
    found: dict[datetime, Seen] = {}
    for day, accepted, judged in zip(days["day"], days["accepted"], days["judged"], strict=True):
        part, whole = found.get(day, (0, 0))
        found[day] = (part + accepted, whole + judged)
    return found


def with_dips(found: Mapping[Whose, Compared], days: Mapping[Whose, Days], scope: Scope) -> dict[Whose, Compared]:
    """The same; what is better has the seven days but for which it is not, unless chance could have made them.

    Of all weeks the one that chance explains least, which the lowest need not be: it may have had one session. It is
    held against chance in as many as were looked at. Where the days are not known, no dip is.
    """
    asked = {whose: each for whose, each in found.items() if whose in days and may_have_dip(each, scope)}
    if not asked:
        return dict(found)
    counts = _window_before([days[whose] for whose in asked], scope)
    until = np.pad(counts.cumsum(axis=1), ((0, 0), (1, 0), (0, 0)))
    weeks = until[:, TOGETHER:] - until[:, :-TOGETHER]
    without = until[:, -1][:, None] - weeks
    shares = _shares(weeks, of_none=np.inf)
    chances = by_chance(np.stack((without, weeks), axis=2)).reshape(shares.shape)
    chances = np.where(shares < _shares(without, of_none=-np.inf), chances, np.inf)
    first = np.lexsort((shares, chances), axis=1)[:, 0]  # of equal chances the lowest
    rows = np.arange(len(asked))
    low, others = weeks[rows, first], without[rows, first]
    is_low = chances[rows, first] * weeks.shape[1] <= FALSE
    told = dict(found)
    for row, (whose, each) in enumerate(asked.items()):
        if is_low[row] and not _is_better(each, _seen(others[row])):
            last = scope.before().since + timedelta(days=int(first[row]) + TOGETHER - 1)
            dip = Dip(last, *(100 * part / whole for part, whole in (_seen(low[row]), _seen(others[row]))))
            told[whose] = replace(each, dip=dip)
    return told


def _window_before(days: Sequence[Days], scope: Scope) -> Counts:
    """Accepted and all of each on every day of the window before."""
    counts = np.zeros((len(days), scope.days, 2), np.int64)
    first = scope.before().since
    for row, each in enumerate(days):
        for day, seen in each.items():
            place = (day - first).days
            if 0 <= place < scope.days:
                counts[row, place] = seen
    return counts


def _shares(counts: Counts, *, of_none: float) -> npt.NDArray[np.float64]:
    """The part of each whole; where there is nothing, what makes no dip of it."""
    part, whole = counts[..., 0], counts[..., 1]
    return np.where(whole > 0, part / np.maximum(whole, 1), of_none)


def _seen(counts: Counts) -> Seen:
    return int(counts[0]), int(counts[1])


def _is_better(each: Compared, others: Seen) -> bool:
    """Whether this window is better than the days beside the dip."""
    if each.seen is None:
        return False
    now = each.seen[1]
    return now[0] * others[1] > others[0] * now[1] and not is_chance(now, others)
