"""A week of the window before that alone makes this one look better, by hand."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from analysis.health.by_day import shares_by_day
from analysis.health.change import SERVICES, Compared, Dip
from analysis.health.dips import with_dips
from queries.scope import EVERYTHING, Scope

SINCE = datetime(2026, 6, 1, tzinfo=UTC)
GOOD, BAD, NONE = (9, 10), (3, 10), (0, 0)
Counts = list[tuple[int, int]]


def found(before: Counts, now: Counts | None = None) -> Dip | None:
    """The dip of what is called better, whatever it was: these days alone decide."""
    this = [GOOD] * len(before) if now is None else now
    part, whole = sum(each[0] for each in this), sum(each[1] for each in this)
    first = SINCE - timedelta(days=len(before))
    days = {first + timedelta(days=number): seen for number, seen in enumerate([*before, *this])}
    scope = Scope.of_days(EVERYTHING, SINCE.date(), SINCE.date() + timedelta(days=len(before) - 1))
    better = Compared(SERVICES[0], 1.0, 0.0, "better", ((0, 1), (part, whole)))
    return with_dips({"": better}, {"": days}, scope)[""].dip


class TestDip:
    def test_the_week_by_its_last_day_its_share_and_that_of_the_others(self) -> None:
        assert found([GOOD] * 4 + [BAD] * 7 + [GOOD] * 3) == (SINCE - timedelta(days=4), 30.0, 90.0)
        assert found([GOOD] * 7 + [BAD] * 7) == (SINCE - timedelta(days=1), 30.0, 90.0)

    def test_one_session_that_failed_in_an_idle_week_hides_no_dip(self) -> None:
        """Its share, 0 of 1, is lower than the dip's and says nothing."""
        quiet = [(0, 1), *[NONE] * 7]
        told = found([*quiet, *[GOOD] * 8, *[BAD] * 7, *[GOOD] * 7])
        assert told == (SINCE - timedelta(days=8), 30.0, 100 * 135 / 151)

    def test_no_others_to_speak_of(self) -> None:
        assert found([GOOD] * 6 + [BAD] * 7) is None
        assert found([NONE] * 7 + [BAD] * 7) is None
        assert found([NONE] * 14) is None

    def test_the_first_day_of_this_window_is_none_of_the_one_before(self) -> None:
        bad_start = [(0, 1_000), *[GOOD] * 13]
        assert found([GOOD] * 14, bad_start) is None

    def test_a_week_is_held_against_chance_in_all_that_were_looked_at(self) -> None:
        """52 of 70 beside 63 of 70 has a chance of 1.7 % by itself, and of 13 % as the worst of eight weeks."""
        low = [(7, 10)] * 4 + [(8, 10)] * 3
        assert found([GOOD] * 7 + low) is None
        assert found([GOOD] * 7 + [(6, 10)] * 7) is not None

    @pytest.mark.parametrize(("accepted", "is_dip"), [(9, True), (10, False)])
    def test_what_is_certainly_better_than_the_others_too_is_no_recovery(self, accepted: int, is_dip: bool) -> None:  # noqa: FBT001 - a case
        now = [(10 * accepted, 100)] * 14
        assert (found([GOOD] * 7 + [BAD] * 7, now) is not None) == is_dip

    def test_a_little_better_than_the_others_may_be_chance(self) -> None:
        assert found([GOOD] * 7 + [BAD] * 7, [GOOD] * 13 + [(10, 10)]) is not None


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
