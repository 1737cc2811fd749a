"""What triage adds up to: how often alerts were right at each threshold, and how many stood open day by day."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

import numpy as np

from analysis.intervals import wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from analysis.drift.alerts import Listed
    from queries.drift.triage import DecisionRow

FLOOR = 10  # verdicts below which a share says nothing
AGES = (7, 30, 90)  # days: what is younger than the first is fresh
AGE_NAMES = ("under 7 days", "7 to 30 days", "30 to 90 days", "over 90 days")
CLOSED = frozenset({"resolved", "false_positive", "snoozed"})  # as they are stored
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Precision:
    """Of the judged alerts at or above a threshold, how many were right, with a 95 % interval; none below the floor."""

    threshold: float
    right: int
    judged: int
    share: float | None
    low: float | None
    high: float | None


def precision_by_threshold(
    verdicts: Iterable[tuple[float, bool]], thresholds: Sequence[float]
) -> tuple[Precision, ...]:
    """Precision on the operators' own verdicts; resolved counts as right, false positive as wrong."""
    given = list(verdicts)
    return tuple(
        _precision(threshold, [right for most, right in given if most >= threshold]) for threshold in thresholds
    )


def _precision(threshold: float, verdicts: list[bool]) -> Precision:
    right, judged = sum(verdicts), len(verdicts)
    if judged < FLOOR:
        return Precision(threshold, right, judged, None, None, None)
    found = wilson(right, judged)
    return Precision(threshold, right, judged, found.value, found.low, found.high)


@dataclass(frozen=True)
class Day:
    """Alerts that arose on a day, and those open when it ended, by age."""

    day: datetime
    arisen: int
    open_by_age: tuple[int, ...]


def trend(
    listed: Iterable[Listed], decided: Mapping[str, Sequence[DecisionRow]], since: datetime, until: datetime
) -> tuple[tuple[Day, ...], int]:
    """Each day of a window, and how many alerts have no date to be counted by.

    An alert arises when the later of its statements is written, and is open but for the times between a decision that
    resolved, dismissed or snoozed it and the next that did not, or the snooze's end. What was since deleted or
    rewritten is not counted: only what can be found today is.
    """
    dated = [(one.newer.created_at, one.fingerprint) for one in listed]
    known = [(at, name) for at, name in dated if at is not None]
    arose = np.array([_us(at) for at, _ in known], np.int64)
    spans = [(row, *span) for row, (_, name) in enumerate(known) for span in _closed(decided.get(name, ()))]
    rows, closed, reopened = np.array(spans, np.int64).reshape(-1, 3).T
    days, start = [], since.astimezone(UTC)
    while start < until:
        begin, end = _us(start), _us(start + timedelta(days=1))
        is_open = arose < end
        is_open[rows[(closed < end) & (reopened >= end)]] = False
        age = (end - arose[is_open]) / 86_400_000_000
        counts = np.bincount(np.searchsorted(AGES, age, side="right"), minlength=len(AGE_NAMES))
        days.append(Day(start, int(((arose >= begin) & (arose < end)).sum()), tuple(counts.tolist())))
        start += timedelta(days=1)
    return tuple(days), len(dated) - len(known)


def age_name(written: datetime, day: datetime) -> str:
    """The age of a statement at the end of the day that begins then, named as the trend counts it."""
    days = (day + timedelta(days=1) - written) / timedelta(days=1)
    return AGE_NAMES[bisect_right(AGES, days)]


def _closed(decisions: Sequence[DecisionRow]) -> Iterator[tuple[int, int]]:
    """From when to when an alert was closed, in microseconds."""
    moments = [*(_us(each.changed_at) for each in decisions), _NEVER]
    for place, each in enumerate(decisions):
        if each.state in CLOSED:
            over = _NEVER if each.snoozed_until is None else _us(each.snoozed_until)
            yield moments[place], min(moments[place + 1], over)


def _us(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000)
