from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking import Candidates, MemoryScore, Relevance, final_score, memory_scores, rank
from ranking.memory_score import round_to_millionths


def test_missing_is_half_null_is_zero_the_rest_is_clamped() -> None:
    given_values = [float("nan"), "abc", None, "", " 0.7 ", 2, -1, "Infinity", True]
    assert memory_scores(given_values).tolist() == [0.5, 0.5, 0.0, 0.0, 0.7, 1.0, 0.0, 1.0, 1.0]


def test_final_score() -> None:
    assert final_score(np.array([0.02, 0.03]), np.array([0.9, 0.1])).tolist() == [0.11, 0.04]
    assert final_score(np.array([0.02]), np.array([0.9]), alpha=1.0).tolist() == [0.92]


def exact(value: float) -> float:
    """The oracle: decimal arithmetic on the exact value of the double."""
    return float(Decimal(value).quantize(Decimal("0.000001"), ROUND_HALF_UP))


@given(st.lists(st.floats(-1e6, 1e6), max_size=20))
def test_rounding_is_exact(values: list[float]) -> None:
    assert round_to_millionths(np.array(values, dtype=np.float64)).tolist() == [exact(value) for value in values]


@given(st.lists(st.integers(-(10**7), 10**7), max_size=20))
def test_halves_and_their_neighbours_round_exactly(numbers: list[int]) -> None:
    halves = np.array([(number + 0.5) / 1e6 for number in numbers] + [number / 128 for number in numbers])
    near = np.concatenate([halves, np.nextafter(halves, np.inf), np.nextafter(halves, -np.inf)])
    assert round_to_millionths(near).tolist() == [exact(value) for value in near.tolist()]


def test_a_true_half_goes_up_as_in_javascript() -> None:
    assert round_to_millionths(np.array([0.0078125, -0.0078125])).tolist() == [0.007813, -0.007813]


def test_stage() -> None:
    found = Candidates("ab", relevance=[0.02, 0.03], memory_score=[0.9, np.nan])
    assert rank(found, (Relevance(), MemoryScore())).scores.tolist() == [0.11, 0.08]
    with pytest.raises(ValueError, match="alpha: expected a finite number"):
        MemoryScore(alpha=float("nan"))
