"""Ranks that are missing or doubled, as they are said."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controls.impact.rank_gaps import candidates, gaps

WHOLE = list(range(8))


@pytest.mark.parametrize(
    ("without", "with_feedback", "said"),
    [
        ([0, 1, 3, 4, 5, 7], [0, 1, 3, 4, 5, 7], "ranks 3, 7 missing"),
        ([1, 2, 3], [3, 1, 2], "rank 1 missing"),
        ([0, 1, 3], [2, 1, 3], "rank 3 → 1 missing"),
        ([0, 1, 1, 3], [0, 1, 2, 3], "rank 3 → — missing, rank 2 → — doubled"),
        ([0, 1, 2], [0, 1, 1], "rank — → 2 doubled"),
        ([0, None, 2, None], WHOLE[:4], "rank 2 → — missing, 2 → 0 rows without a rank"),
        ([0, 1, -1], [0, 1, 2**31 - 1], "1 rank outside 1 to 200"),
        ([None, None], [None, None], "2 rows without a rank"),
        (WHOLE * 2, WHOLE * 2, "ranks 1, 2, 3, 4, 5 and 3 more doubled"),
        ([0, 3, 4], [1, 2, 5], "ranks 2, 3 → 1, 4, 5 missing"),
        ([0, 1, -1], [0, 1, 2], "1 → 0 ranks outside 1 to 200"),
        ([199], [199], "ranks 1, 2, 3, 4, 5 and 194 more missing"),
        (WHOLE, WHOLE, ""),
    ],
)
def test_what_is_wrong_is_said_once_and_from_one(
    without: list[int | None], with_feedback: list[int | None], said: str
) -> None:
    assert gaps(without, with_feedback) == said


@pytest.mark.parametrize(
    ("without", "with_feedback", "of"),
    [([0, 1, 3], [2, 1, 0], 4), ([None], [4], 5), ([-1, 200], [None, None], 0), (WHOLE * 2, WHOLE * 2, 8)],
)
def test_how_many_candidates_there_were_is_what_the_last_rank_says(
    without: list[int | None], with_feedback: list[int | None], of: int
) -> None:
    assert candidates(without, with_feedback) == of


@given(st.lists(st.none() | st.integers(-2, 210), min_size=1, max_size=20))
def test_something_is_said_exactly_where_ranks_are_not_whole(ranks: list[int | None]) -> None:
    assert (gaps(ranks, ranks) == "") == (Counter(ranks) == Counter(range(len(ranks))))
