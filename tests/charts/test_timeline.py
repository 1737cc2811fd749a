"""Marks of a life: how large one is says how many it stands for."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plotly.subplots import make_subplots

from charts.drift_timeline import Given, Life, both_lives
from charts.timeline import LARGEST, SMALLEST, draw_lane, timeline

START = datetime(2026, 3, 2, tzinfo=UTC)


def sizes(counts: list[int]) -> list[float]:
    """The diameters of one lane's marks."""
    moments = [START + timedelta(days=day) for day in range(len(counts))]
    marks = pd.DataFrame({"first": moments, "last": moments, "count": counts})
    figure = make_subplots(rows=2, cols=1)
    draw_lane(figure, "injected", "injected", marks, max(counts))
    return list(figure.data[0].marker.size)


class TestSizeOfAMark:
    def test_few_are_drawn_true_to_their_area(self) -> None:
        assert sizes([1, 2, 4]) == pytest.approx([SMALLEST, SMALLEST * math.sqrt(2), SMALLEST * 2])

    def test_two_at_most_are_no_larger_than_two(self) -> None:
        assert sizes([2, 1])[0] == pytest.approx(8 * math.sqrt(2))

    @given(st.lists(st.integers(1, 5_000), min_size=1, max_size=20))
    def test_more_is_larger_and_every_mark_fits_its_lane(self, counts: list[int]) -> None:
        drawn = sizes(counts)
        assert all(SMALLEST <= size <= LARGEST + 1e-9 for size in drawn)
        assert [size for _, size in sorted(zip(counts, drawn, strict=True))] == sorted(drawn)


def test_a_session_named_to_turn_the_words_after_it_is_named_by_the_number_of_what_turns_them() -> None:
    step = {"recorded_at": START, "previous_weight": 1.0, "new_weight": 0.9, "alpha": 0.1, "first_weight": 1.0}
    steps = pd.DataFrame([step | {"total": 1, "outcome": "rework", "session_id": "a<b>\u202e" + "c" * 100}])
    figure = timeline(pd.DataFrame({"lane": [], "count": []}), steps, 0.9, None, START)
    (told,) = [trace.customdata[0][3] for trace in figure.data if trace.customdata is not None]
    assert told == "a&lt;b>⟦U+202E⟧" + "c" * 74 + "…"


def test_a_weight_above_one_is_drawn_whole_also_where_it_never_changed() -> None:
    nothing, still = (
        pd.DataFrame({"lane": [], "count": []}),
        pd.DataFrame(columns=["recorded_at", "previous_weight", "new_weight", "outcome"]),
    )
    alone = timeline(nothing, still, 1.6, START, START + timedelta(days=9))
    ordinary = Life(nothing, still, 0.5, START)
    both = both_lives(ordinary, ordinary._replace(weight=1.6), START + timedelta(days=9), Given(30, 1, 1, None))
    for figure in (alone, both):
        assert max(y for trace in figure.data for y in trace.y) == 1.6
        assert figure.layout.yaxis.range[1] > 1.6
