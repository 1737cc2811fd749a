"""Shares of a day and of the seven days up to it, by hand."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pandas as pd

from analysis.health.by_day import shares_by_day
from queries.scope import EVERYTHING, Scope

SINCE = datetime(2026, 6, 1, tzinfo=UTC)


def test_a_day_of_both_windows_alone_and_with_the_six_before_it() -> None:
    scope = Scope.of_days(EVERYTHING, SINCE.date(), SINCE.date() + timedelta(days=6))
    first = SINCE - timedelta(days=7)
    frame = pd.DataFrame(
        {"day": [first, first + timedelta(days=7)], "judged": [4, 6], "accepted": [1, 6]}
    )  # fmt: skip
    told = shares_by_day("accepted", {"ended_by_day": frame}, scope)
    assert [each.day for each in told] == [first + timedelta(days=number) for number in range(14)]
    assert (told[0].share, told[7].share) == (25.0, 100.0)
    assert math.isnan(told[1].share)  # nothing ended on it, which is no share of 0
    assert [told[number].of_week for number in (0, 6, 7)] == [25.0, 25.0, 100.0]
    assert shares_by_day("accepted", {"ended_by_day": frame.assign(judged=0)}, scope) == []
    assert shares_by_day("accepted", {}, scope) == []
