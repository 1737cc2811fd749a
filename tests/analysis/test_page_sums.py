"""What pages add up from their answers, by hand: Overview's sums and days, ratios, and the counts behind Health."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pandas as pd
import pytest

from analysis.health.counts import by_organization, summed
from analysis.overview import by_day, totals
from analysis.ratios import Ratio, split
from queries.scope import EVERYTHING, Scope

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def day(number: int) -> pd.Timestamp:
    return pd.Timestamp(date(2026, 3, number), tz="UTC")


def test_retrievals_of_each_day_stand_in_their_place_and_others_nowhere() -> None:
    scope = Scope.of_days(EVERYTHING, date(2026, 3, 1), date(2026, 3, 3))
    daily = pd.DataFrame(
        [("org_a", day(1), 4), ("org_a", day(3), 2), ("org_b", day(2), 7), ("org_c", day(2), 9), ("org_a", day(4), 5)],
        columns=["org_id", "day", "retrievals"],
    )
    assert by_day(daily, ["org_b", "org_a"], scope) == [[0, 7, 0], [4, 0, 2]]


def test_sessions_with_an_outcome_are_those_judged() -> None:
    found = totals(pd.DataFrame({"name": ["A", "B"], "accepted": [1, 2], "rejected": [3, 4], "rework": [5, 6]}))
    assert (found["accepted"], found["judged"]) == (3, 21)


class TestRatios:
    DAILY = pd.DataFrame({"day": [day(1), day(2), day(3)], "flips": [4, 0, 2], "known": [2, 0, 4]})

    def test_a_window_is_split_from_the_one_before(self) -> None:
        days, now, then = split(self.DAILY, day(2).to_pydatetime())
        ratio = Ratio("flips", "known", 100)
        assert list(days["day"]) == [day(2), day(3)]
        assert (ratio.value(now), ratio.value(then)) == (50, 200)

    def test_a_day_without_anything_to_form_it_of_is_no_zero(self) -> None:
        ratio = Ratio("flips", "known", 100)
        assert ratio.by_day(self.DAILY) == [200, 50]
        assert ratio.value(self.DAILY.iloc[1:2][["flips", "known"]].sum()) is None


class TestHealthCounts:
    PASSES = pd.DataFrame(
        {
            "org_id": ["org_a", "org_b"], "projects": [2, 3], "repeats": [5, 2], "passed": [30, 10],
            "oldest": [NOON - DAY, NOON - 2 * DAY],
        }
    )  # fmt: skip

    def test_the_project_that_waits_longest_counts_and_where_none_waits_there_is_no_age(self) -> None:
        found = by_organization({"passes": self.PASSES}, NOON)
        assert found["org_a"] == {"repeats": 5, "passed": 30, "hours_since_pass": pytest.approx(24)}
        assert found["org_b"] == {"repeats": 2, "passed": 10, "hours_since_pass": pytest.approx(48)}
        together = summed(found)
        assert (together["repeats"], together["passed"]) == (5 + 2, 30 + 10)
        assert together["hours_since_pass"] == pytest.approx(48)
        nothing = self.PASSES.assign(oldest=pd.Series([pd.NaT, pd.NaT], dtype="datetime64[us, UTC]"))
        assert "hours_since_pass" not in summed(by_organization({"passes": nothing}, NOON))

    def test_passes_that_could_not_be_asked_leave_no_age(self) -> None:
        stored = pd.DataFrame({"org_id": ["org_c"], "active": [3], "surplus": [0]})
        assert by_organization({"duplicates": stored}, NOON) == {"org_c": {"active": 3, "surplus": 0}}

    def test_what_writers_lost_is_dropped_and_failed(self) -> None:
        writers = pd.DataFrame({"org_id": ["org_a"], "written": [90], "dropped": [7], "failed": [3]})
        assert by_organization({"writers": writers}, NOON) == {"org_a": {"dropped_or_failed": 10, "logged": 100}}
