import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking import (
    injection_flips,
    is_complete,
    jaccard_at,
    judge,
    kendall_tau_b,
    mean_absolute_delta,
    overlap_at,
    rank_biased_overlap,
    rank_delta,
)
from tests.ranking import strategies


def plain_rbo(first: list[int], second: list[int], p: float) -> float:
    """The oracle: the extrapolated overlap, depth by depth, far beyond both ends."""
    short, long = sorted((first, second), key=len)
    s, l = len(short), len(long)  # noqa: E741 - the paper's letters
    at_s = len(set(short) & set(long[:s]))
    total = 0.0
    agreement = 0.0
    for depth in range(1, l + 1):
        shared = len(set(short[:depth]) & set(long[:depth]))
        agreement = shared / depth if depth <= s else (shared + at_s * (depth - s) / s) / depth
        total += (1 - p) * p ** (depth - 1) * agreement
    return total + agreement * p**l


@given(strategies.orderings, strategies.orderings, st.sampled_from([0.5, 0.9]))
def test_rbo_is_the_plain_sum(first: list[int], second: list[int], p: float) -> None:
    found = rank_biased_overlap(first, second, p)
    if not first or not second:
        assert found is None
    else:
        assert found is not None
        assert found == pytest.approx(plain_rbo(first, second, p))
        assert found == pytest.approx(rank_biased_overlap(second, first, p))
        assert -1e-12 <= found <= 1 + 1e-12


def test_rbo_bounds_and_weight() -> None:
    assert rank_biased_overlap("abc", "abc") == pytest.approx(1.0)
    assert rank_biased_overlap("abc", "xyz") == 0.0
    top_swapped, tail_swapped = rank_biased_overlap("bacdef", "abcdef"), rank_biased_overlap("abcdfe", "abcdef")
    assert top_swapped is not None
    assert tail_swapped is not None
    assert top_swapped < tail_swapped
    with pytest.raises(ValueError, match="p: expected more than 0 and less than 1, found 1"):
        rank_biased_overlap("a", "a", 1.0)
    with pytest.raises(ValueError, match="expected every id once"):
        rank_biased_overlap("aa", "ab")


@given(st.lists(st.sampled_from([0, 1, 2]), min_size=2, max_size=8), st.data())
def test_tau_b_is_the_plain_count(first: list[int], data: st.DataObject) -> None:
    second = data.draw(st.lists(st.sampled_from([0, 1, 2]), min_size=len(first), max_size=len(first)))
    pairs = [(i, j) for i in range(len(first)) for j in range(i)]
    signs = [(np.sign(first[i] - first[j]), np.sign(second[i] - second[j])) for i, j in pairs]
    one, other = sum(a != 0 for a, _ in signs), sum(b != 0 for _, b in signs)
    found = kendall_tau_b(first, second)
    if not one or not other:
        assert found is None
    else:
        assert found == pytest.approx(sum(a * b for a, b in signs) / math.sqrt(one * other))


def test_tau_refuses_unequal_lengths() -> None:
    with pytest.raises(ValueError, match="expected equal lengths, found 1 and 2"):
        kendall_tau_b([1], [1, 2])


@given(strategies.orderings, strategies.orderings, st.integers(1, 12))
def test_overlap_and_jaccard(first: list[int], second: list[int], k: int) -> None:
    mine, theirs = set(first[:k]), set(second[:k])
    shared = len(mine & theirs)
    assert overlap_at(first, second, k) == (shared / min(len(mine), len(theirs)) if mine and theirs else None)
    assert jaccard_at(first, second, k) == (shared / len(mine | theirs) if mine | theirs else None)


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_deltas_of_complete_retrievals_add_up_to_zero(first: list[int], second: list[int]) -> None:
    before, after = np.array(first), np.array(second)
    assert rank_delta(before, after).sum() == 0
    assert mean_absolute_delta(before, after) == np.abs(before - after).mean()
    assert is_complete(before)
    assert not is_complete(before[before != 0])


def test_injection_flips_are_what_an_agent_notices() -> None:
    flips = injection_flips(["a", "b", "c"], ["c", "d", "a"])
    assert (flips.entered, flips.left, len(flips)) == (("d",), ("b",), 2)
    assert len(injection_flips(["a", "b"], ["b", "a"])) == 0
    assert mean_absolute_delta(np.array([], dtype=int), np.array([], dtype=int)) is None


class TestJudged:
    def test_by_hand(self) -> None:
        found = judge(["a", "x", "b"], {"a": 1, "b": 2, "c": 1, "x": 0}, k=3)
        gained = (2**1 - 1) / math.log2(2) + (2**2 - 1) / math.log2(4)
        ideal = (2**2 - 1) / math.log2(2) + (2**1 - 1) / math.log2(3) + (2**1 - 1) / math.log2(4)
        assert found.ndcg == pytest.approx(gained / ideal)
        assert (found.mrr, found.recall, found.precision, found.coverage) == (1.0, 2 / 3, 2 / 3, 1.0)

    def test_what_is_undefined_is_none_and_coverage_says_how_little_is_known(self) -> None:
        found = judge(["q", "a"], {"a": 1}, k=2)
        assert (found.mrr, found.recall, found.precision, found.coverage) == (0.5, 1.0, 0.5, 0.5)
        empty = judge(["q"], {}, k=5)
        assert (empty.ndcg, empty.mrr, empty.recall, empty.precision, empty.coverage) == (None, None, None, 0.0, 0.0)
        assert judge([], {"a": 1}, k=5).coverage is None

    @given(strategies.orderings, st.dictionaries(st.integers(0, 9), st.sampled_from([0, 1, 2])), st.integers(1, 10))
    def test_bounds_and_the_ideal_order(self, ranking: list[int], judgements: dict[int, float], k: int) -> None:
        found = judge(ranking, judgements, k)
        for figure in (found.ndcg, found.mrr, found.recall, found.precision, found.coverage):
            assert figure is None or 0 <= figure <= 1 + 1e-12
        ideal = sorted(judgements, key=lambda label: -judgements[label])
        best = judge(ideal, judgements, k).ndcg
        assert best is None or best == pytest.approx(1.0)

    def test_bad_input_raises(self) -> None:
        with pytest.raises(ValueError, match="k: expected 1 or more, found 0"):
            judge(["a"], {"a": 1}, 0)
        with pytest.raises(ValueError, match="expected finite grades of 0 or more"):
            judge(["a"], {"a": -1}, 1)
