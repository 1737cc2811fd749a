from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ranking import (
    INTENDED,
    LIVE,
    Candidates,
    Corroboration,
    Feedback,
    Head,
    Relevance,
    TokenBudget,
    apply_feedback_ranking,
    rank,
)
from retrieval.ab import ab_ranks, weighs

THREE = Candidates(
    ["a", "b", "c"],
    relevance=[0.9, 0.8, 0.7],
    weight=[0.5, 1.0, 1.0],
    corroborating=[0, 0, 3],
    content=["x" * 4] * 3,
)


def test_a_live_retrieval_is_logged_as_documented() -> None:
    found = ab_ranks(rank(THREE, LIVE))
    assert found.weighted_score.tolist() == [0.9 * 0.5, 0.8 * 1.0, 0.7 * 1.0]
    assert found.unweighted_rank.tolist() == [0, 1, 2]
    assert found.weighted_rank.tolist() == [2, 0, 1]
    assert found.corroboration_boost is None


def test_a_boost_before_feedback_is_not_put_down_to_feedback() -> None:
    """0.7 + 0.1·log2(4) = 0.9 ties with the first and stays behind it: corroboration's doing, in both columns."""
    found = ab_ranks(rank(THREE, INTENDED))
    assert found.corroboration_boost is not None
    assert found.corroboration_boost.tolist() == [0.0, 0.0, 0.2]
    assert found.unweighted_rank.tolist() == [0, 2, 1]
    assert found.weighted_rank.tolist() == [2, 1, 0]
    assert found.weighted_score.tolist() == [0.45, 0.8, 0.7 + 0.2]


def test_with_weighting_off_both_orders_are_one() -> None:
    ranking = rank(THREE, (Relevance(), Feedback(enabled=False)))
    found = ab_ranks(ranking)
    assert found.weighted_rank.tolist() == found.unweighted_rank.tolist() == [0, 1, 2]
    assert found.weighted_score.tolist() == [0.9, 0.8, 0.7]
    assert not weighs(ranking)


def test_rows_the_budget_drops_keep_their_ranks() -> None:
    found = ab_ranks(rank(THREE, (Relevance(), Feedback(), TokenBudget(1))))
    assert found.weighted_rank.tolist() == [2, 0, 1]


def test_rows_dropped_before_feedback_stand_below() -> None:
    found = ab_ranks(rank(THREE, (Relevance(), Head(2), Feedback())))
    assert found.unweighted_rank.tolist() == [0, 1, 2]
    assert found.weighted_rank.tolist() == [1, 0, 2]
    assert found.weighted_score.tolist() == [0.45, 0.8, 0.7]


def test_a_pipeline_without_feedback_has_one_order() -> None:
    ranking = rank(THREE, (Relevance(), Corroboration(1.0)))
    found = ab_ranks(ranking)
    assert found.weighted_rank.tolist() == found.unweighted_rank.tolist() == [1, 2, 0]
    assert not weighs(ranking)
    assert weighs(rank(THREE, LIVE))


def test_nothing_recalled() -> None:
    none = Candidates([], relevance=[], weight=[], content=[])
    assert ab_ranks(rank(none, LIVE)).weighted_rank.tolist() == []


FEW = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@given(st.lists(st.tuples(FEW, FEW), max_size=12), st.integers(0, 12))
def test_both_ranks_are_permutations_and_agree_with_the_library(rows: list[tuple[float, float]], head: int) -> None:
    relevance, weight = (np.array([row[side] for row in rows]) for side in (0, 1))
    candidates = Candidates(range(len(rows)), relevance=relevance, weight=weight, content=["x"] * len(rows))
    found = ab_ranks(rank(candidates, (Relevance(), Head(head), Feedback(), TokenBudget(3))))
    for ranks in (found.unweighted_rank, found.weighted_rank):
        assert sorted(ranks.tolist()) == list(range(len(rows)))
    documented = apply_feedback_ranking(candidates)
    whole = ab_ranks(rank(candidates, (Relevance(), Head(20), Feedback(), TokenBudget(3))))
    assert whole.unweighted_rank.tolist() == documented.unweighted_rank.tolist()
    assert whole.weighted_rank.tolist() == documented.weighted_rank.tolist()
    assert whole.weighted_score.tolist() == documented.weighted_score.tolist()
