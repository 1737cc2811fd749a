import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking.candidates import Scores
from ranking.order import ranks, ranks_of, stable_order, top_k
from tests.ranking import strategies


def plain_order(scores: Scores) -> list[int]:
    """The oracle: Python's own stable sort."""
    return sorted(range(len(scores)), key=lambda row: -scores[row])


@given(strategies.scores)
def test_order_is_a_plain_stable_sort(scores: Scores) -> None:
    assert stable_order(scores).tolist() == plain_order(scores)


@given(strategies.scores, st.integers(-2, 30))
def test_top_k_is_the_head_of_the_whole_order(scores: Scores, k: int) -> None:
    assert top_k(scores, k).tolist() == plain_order(scores)[: max(k, 0)]


@given(strategies.scores)
def test_ranks_invert_the_order(scores: Scores) -> None:
    assert ranks(scores)[stable_order(scores)].tolist() == list(range(len(scores)))


@given(strategies.scores, st.data())
def test_ranks_of_a_few_rows_are_those_of_all(scores: Scores, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, max(len(scores) - 1, 0)), max_size=6)) if len(scores) else []
    chosen = np.array(rows, dtype=np.intp)
    assert ranks_of(scores, chosen).tolist() == ranks(scores)[chosen].tolist()


@given(st.permutations(range(8)))
def test_with_distinct_scores_permuting_rows_permutes_the_order(shuffle: list[int]) -> None:
    scores = np.array([0.3, 0.1, 0.9, 0.5, 0.7, 0.2, 0.8, 0.4])
    shuffled = np.array(shuffle)
    assert shuffled[stable_order(scores[shuffled])].tolist() == stable_order(scores).tolist()


@pytest.mark.parametrize("size", [1_000, 50_000])
def test_large_columns_with_many_ties(size: int) -> None:
    scores = np.random.default_rng(size).integers(0, 20, size).astype(np.float64)
    rows = np.random.default_rng(1).integers(0, size, 40)
    assert ranks_of(scores, rows).tolist() == ranks(scores)[rows].tolist()
    assert top_k(scores, 77).tolist() == stable_order(scores)[:77].tolist()


def test_minus_zero_ties_with_zero() -> None:
    assert stable_order(np.array([-0.0, 0.0, -0.0])).tolist() == [0, 1, 2]
