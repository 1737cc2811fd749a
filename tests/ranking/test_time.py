import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking import (
    Candidates,
    Composite,
    RegexAnchorExtractor,
    Relevance,
    Temporal,
    TemporalMode,
    TimeAnchor,
    WordAnchorExtractor,
    composite_scores,
    rank,
    recency,
    rerank_temporal,
    temporal_proximity,
)
from tests.ranking import strategies

NOW = np.datetime64("2026-06-15T12:00:00")


class TestComposite:
    def test_recency(self) -> None:
        ages = np.array([0.0, 168.0, -5.0, np.nan, 1e9])
        assert recency(ages) == pytest.approx([1.0, math.exp(-1), 1.0, 0.0, 0.0])

    @given(strategies.some_scores, st.data())
    def test_is_the_plain_rule(self, relevance: np.ndarray, data: st.DataObject) -> None:
        size = relevance.size
        ages = data.draw(st.lists(st.sampled_from([-1.0, 0.0, 24.0, math.nan]), min_size=size, max_size=size))
        importance = data.draw(st.lists(st.sampled_from([-1.0, 0.5, 3.0]), min_size=size, max_size=size))
        best = max(0.0, *relevance)
        plain = [
            0.80 * (score / best if best > 0 else 0.0)
            + 0.05 * (0.0 if math.isnan(age) else math.exp(-max(age, 0.0) / 168))
            + 0.15 * min(1.0, max(0.0, worth))
            for score, age, worth in zip(relevance, ages, importance, strict=True)
        ]
        assert composite_scores(relevance, np.array(ages), np.array(importance)) == pytest.approx(plain)

    def test_stage_reads_the_columns(self) -> None:
        found = Candidates(
            "ab",
            now=NOW,
            relevance=[1.0, 0.5],
            importance=[0.5, 2.0],
            last_accessed_at=[None, NOW - np.timedelta64(7, "D")],
        )
        scores = rank(found, (Relevance(), Composite())).scores
        assert scores == pytest.approx([0.8 + 0 + 0.075, 0.4 + 0.05 * math.exp(-1) + 0.15])


class TestTemporal:
    @pytest.mark.parametrize(("away", "expected"), [(0, 1), (5, 1), (10, 0.5), (15, 0), (16, 0), (-10, 0.5)])
    def test_proximity_ramps_to_three_times_the_tolerance(self, away: float, expected: float) -> None:
        assert temporal_proximity(np.array([21.0 + away]), 21, 5)[0] == pytest.approx(expected)

    def test_no_date_or_no_tolerance_is_not_near(self) -> None:
        assert temporal_proximity(np.array([np.nan]), 21, 5).tolist() == [0]
        assert temporal_proximity(np.array([21.0]), 21, 0).tolist() == [0]

    def test_additive_and_multiplicative(self) -> None:
        scores, ages, anchor = np.array([0.8, 0.1]), np.array([90.0, 21.0]), TimeAnchor(21, 5)
        assert rerank_temporal(scores, ages, anchor) == pytest.approx([0.8, 0.1 + 0.4])
        assert rerank_temporal(scores, ages, anchor, mode="multiplicative") == pytest.approx([0.8, 0.1 * 1.4])

    @pytest.mark.parametrize(("anchor", "boost"), [(None, 0.4), (TimeAnchor(1, 1), 0.0), (TimeAnchor(1, 1), -1.0)])
    def test_without_anchor_or_boost_nothing_changes(self, anchor: TimeAnchor | None, boost: float) -> None:
        assert rerank_temporal(np.array([0.5]), np.array([1.0]), anchor, boost).tolist() == [0.5]

    def test_stage_lifts_what_is_dated_as_asked(self) -> None:
        days = np.array([1, 21], "timedelta64[D]")
        found = Candidates("ab", now=NOW, query="what was it 3 weeks ago", relevance=[0.8, 0.6], created_at=NOW - days)
        assert rank(found, (Relevance(), Temporal())).ids() == ["b", "a"]
        assert rank(found, (Relevance(), Temporal(mode=TemporalMode.MULTIPLICATIVE))).scores == pytest.approx(
            [0.8, 0.84]
        )

    @given(strategies.candidates())
    def test_the_boost_is_monotone(self, found: Candidates) -> None:
        low, high = (rank(found, (Relevance(), Temporal(boost=boost))).scores for boost in (0.1, 0.4))
        assert (high >= low).all()


class TestRegexAnchors:
    @pytest.mark.parametrize(
        ("query", "days", "tolerance"),
        [
            ("3 days ago", 3, 2), ("a couple of days ago", 2, 2), ("a couple days ago", 2, 2), ("Yesterday", 1, 1),
            ("2 weeks ago", 14, 5), ("last week", 7, 3), ("2 months ago", 60, 10), ("a month", 30, 7),
            ("last year", 365, 30), ("recently", 14, 14),
            ("extra week", 7, 3), ("3 weeks ago, not yesterday", 1, 1),
            ("99999999999999999999 days ago, or a year", 365, 30),
        ],
    )  # fmt: skip
    def test_patterns_and_quirks(self, query: str, days: int, tolerance: int) -> None:
        assert RegexAnchorExtractor().anchor(query) == TimeAnchor(days, tolerance)

    @pytest.mark.parametrize(
        "query",
        [
            "",
            "last weekend",
            "three weeks ago",
            "99999999999999999999 days ago",
            "9223372036854775807 weeks ago",
            "9" * 5000 + " days ago",
            "3\vdays ago",
        ],
    )
    def test_none(self, query: str) -> None:
        assert RegexAnchorExtractor().anchor(query) is None


class TestWordAnchors:
    @pytest.mark.parametrize(
        ("query", "days"),
        [
            ("twenty-one days ago", 21), ("twenty one days ago", 21), ("sixteen weeks ago", 16 * 7),
            ("ninety-nine days ago", 99), ("forty months ago", 40 * 30), ("done. 5 days ago", 5),
            ("yesterday, or two days ago", 2), ("half of it and two days ago", 2),
        ],
    )  # fmt: skip
    def test_numbers_in_words_up_to_ninety_nine(self, query: str, days: int) -> None:
        anchor = WordAnchorExtractor().anchor(query)
        assert anchor is not None
        assert anchor.days == days

    @pytest.mark.parametrize(
        "query",
        [
            "a hundred and five days ago", "half a year ago", "1.5 weeks ago", "1,5 weeks ago", "3-4 days ago",
            "two hundred five days ago", "one or-two days ago", "a thousand two days ago", "5 3 days ago",
        ],
    )  # fmt: skip
    def test_the_end_of_a_longer_number_is_no_number(self, query: str) -> None:
        assert WordAnchorExtractor().anchor(query) is None

    @pytest.mark.parametrize("query", ["on 2026-07-01", "by july 1, 2026", "in july 2026", "in 2027", "1 july 2026"])
    def test_a_date_to_come_is_not_remembered(self, query: str) -> None:
        assert WordAnchorExtractor().anchor(query, np.datetime64("2026-06-10T12:00")) is None

    @pytest.mark.parametrize(("query", "tolerance"), [("in june 2026", 15), ("in 2026", 120)])
    def test_of_a_month_or_year_that_has_begun_the_past_is_meant(self, query: str, tolerance: int) -> None:
        anchor = WordAnchorExtractor().anchor(query, np.datetime64("2026-06-10T12:00"))
        assert anchor == TimeAnchor(0, tolerance)

    @pytest.mark.parametrize(
        ("query", "days", "tolerance"),
        [
            ("three weeks ago", 21, 5), ("a few days ago", 3, 2), ("a year ago", 365, 30),
            ("a couple of months ago", 60, 10),
            ("what about today", 0, 1), ("yesterday", 1, 1), ("last week", 7, 3), ("12 days ago", 12, 2),
            ("on 2026-06-01", 14, 2), ("June 1, 2026", 14, 2), ("on the 1st of June", 14, 2), ("in May", 31, 15),
            ("March 2026", 92, 15), ("in december", 182, 15), ("in 2025", 349, 120), ("20 July", 330, 2),
        ],
    )  # fmt: skip
    def test_words_and_dates(self, query: str, days: int, tolerance: int) -> None:
        assert WordAnchorExtractor().anchor(query, NOW) == TimeAnchor(days, tolerance)

    @pytest.mark.parametrize(
        "query", ["extra week", "may I march on", "31 april", "weeks ago", "99999999999999999999 years ago"]
    )
    def test_none(self, query: str) -> None:
        assert WordAnchorExtractor().anchor(query, NOW) is None

    def test_dates_need_now(self) -> None:
        assert WordAnchorExtractor().anchor("on 2026-06-01") is None

    def test_the_stage_can_use_it(self) -> None:
        found = Candidates("a", now=NOW, query="extra week", relevance=[0.5], created_at=[NOW - np.timedelta64(7, "D")])
        assert rank(found, (Relevance(), Temporal())).scores.tolist() == [0.9]
        assert rank(found, (Relevance(), Temporal(whole_words=True))).scores.tolist() == [0.5]
