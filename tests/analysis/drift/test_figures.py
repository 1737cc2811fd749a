"""What verdicts and dates add up to, with the arithmetic written out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.drift.alerts import Listed, Origin
from analysis.drift.figures import FLOOR, precision_by_threshold, trend
from analysis.drift.pairs import checked_pairs
from analysis.intervals import wilson
from queries.drift.opposing import PairError
from queries.drift.triage import DecisionRow
from ranking.contradictions import Kind

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def alert(days_ago: float | None, name: str = "f") -> Listed:
    created = None if days_ago is None else NOON - timedelta(days=days_ago)
    side = Origin("id", None, None, created, 1.0, 1, 1)
    return Listed(None, name, Kind.VALUE, "r", 1.0, 50.0, (), (), side, side, 0.3, 1.0)


def decision(state: str, days_ago: float, over_ago: float | None = None) -> DecisionRow:
    over = None if over_ago is None else NOON - timedelta(days=over_ago)
    return DecisionRow(state, NOON - timedelta(days=days_ago), over)


class TestPrecision:
    def test_each_threshold_counts_what_is_still_found_there(self) -> None:
        verdicts = [(0.4, False)] * 6 + [(1.0, True)] * 12 + [(1.0, False)] * 4
        low, high = precision_by_threshold(verdicts, (0.3, 0.5))
        assert (low.right, low.judged, low.share) == (12, 22, 12 / 22)
        assert (high.right, high.judged, high.share) == (12, 16, 12 / 16)

    def test_few_verdicts_say_nothing(self) -> None:
        few, enough = (precision_by_threshold([(1.0, True)] * n, (0.5,))[0] for n in (FLOOR - 1, FLOOR))
        assert (few.judged, few.share, few.low, few.high) == (9, None, None, None)
        assert enough.share == 1.0

    def test_wilsons_interval_by_hand(self) -> None:
        z = 1.959964
        middle = (0.75 + z * z / 40) / (1 + z * z / 20)
        half = z / (1 + z * z / 20) * sqrt(0.75 * 0.25 / 20 + z * z / 1600)
        found = wilson(15, 20)
        assert (found.low, found.high) == pytest.approx((middle - half, middle + half))
        assert (found.low, found.high) == pytest.approx((0.531, 0.888), abs=0.001)

    @given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
    def test_the_interval_holds_the_share(self, drawn: tuple[int, int]) -> None:
        right, judged = drawn
        found = wilson(right, judged)
        assert 0 <= found.low <= right / judged + 1e-12
        assert right / judged - 1e-12 <= found.high <= 1


class TestTrend:
    def test_arisen_and_open_by_age(self) -> None:
        decided = {
            "closed": [decision("resolved", 1)],
            "waiting": [decision("acknowledged", 1)],
        }
        listed = [alert(1), alert(1, "closed"), alert(10, "waiting"), alert(40), alert(200), alert(None)]
        since = datetime(2026, 3, 9, tzinfo=UTC)
        (first, second), undated = trend(listed, decided, since, since + timedelta(days=2))
        assert undated == 1
        assert (first.arisen, first.open_by_age) == (2, (1, 1, 1, 1))
        assert (second.arisen, second.open_by_age) == (0, (1, 1, 1, 1))

    @pytest.mark.parametrize(
        ("decisions", "expected"),
        [
            ([], [1, 1, 1, 1, 1, 1]),
            ([("false_positive", 2)], [1, 1, 1, 0, 0, 0]),
            ([("resolved", 4), ("new", 2), ("resolved", 1)], [1, 0, 0, 1, 0, 0]),
            ([("resolved", 4), ("resolved", 1)], [1, 0, 0, 0, 0, 0]),
            ([("snoozed", 4, 2)], [1, 0, 0, 1, 1, 1]),
            ([("snoozed", 4, 1), ("investigating", 3)], [1, 0, 1, 1, 1, 1]),
        ],
        ids=["none", "once", "twice", "a note later", "a snooze that ended", "a snooze cut short"],
    )
    def test_open_but_for_the_times_it_was_closed(self, decisions: list[Any], expected: list[int]) -> None:
        """Of 5 to 10 March, seen at noon of the 10th; decisions are days ago, at noon."""
        since = datetime(2026, 3, 5, tzinfo=UTC)
        decided = {"f": [decision(*each) for each in decisions]}
        days, _ = trend([alert(6)], decided, since, since + timedelta(days=6))
        assert [sum(day.open_by_age) for day in days] == expected


class TestPairs:
    def test_two_words_of_one_stem_are_no_opposites(self) -> None:
        with pytest.raises(PairError, match="stem"):
            checked_pairs([("enabled", "enables")])
        assert checked_pairs([("read-only", "writable")]) == (("read-only", "writable"),)
