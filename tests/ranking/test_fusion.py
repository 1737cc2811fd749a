from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking import (
    ReciprocalRankFusion,
    ScoreFusion,
    candidates_from_legs,
    fuse_scores,
    leg_pool,
    rank,
    reciprocal_rank_fusion,
    two_leg_weights,
)

ids = st.lists(st.sampled_from("abcde"), max_size=6)
scored = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from([-1.0, 0.0, 0.5, 2.0])), max_size=6)
unique_scored = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from([-1.0, 0.0, 0.5, 2.0])),
    max_size=5,
    unique_by=lambda pair: pair[0],
)


def plain_sum(legs: list[list[tuple[Any, float]]]) -> list[tuple[Any, float]]:
    """The oracle: add up in a dictionary, sort stably."""
    total: dict[Any, float] = {}
    for leg in legs:
        for label, share in leg:
            total[label] = total.get(label, 0.0) + share
    return sorted(total.items(), key=lambda pair: -pair[1])


def plain_minmax(leg: list[tuple[Any, float]], weight: float) -> list[tuple[Any, float]]:
    values = [score for _, score in leg]
    span = max(values, default=0.0) - min(values, default=0.0)
    return [(label, weight * ((score - min(values)) / span if span else 1.0)) for label, score in leg]


@given(st.lists(ids, max_size=4), st.sampled_from([0, -1, 2, 60]), st.sampled_from([0, 1]), st.integers(-1, 4))
def test_rrf_is_the_plain_sum(legs: list[list[str]], k: float, first_rank: int, top: int) -> None:
    damping = k if k > 0 else {0: 5, 1: 15}[first_rank]
    plain = plain_sum(
        [[(label, 1 / (damping + first_rank + place)) for place, label in enumerate(leg)] for leg in legs]
    )
    found = reciprocal_rank_fusion(legs, k, first_rank, top)
    assert found == (plain[:top] if top > 0 else plain)


@given(st.lists(scored, max_size=4), st.lists(st.sampled_from([0.0, 0.5, 2.0]), max_size=4), st.integers(-1, 4))
def test_score_fusion_is_the_plain_sum(legs: list[list[tuple[str, float]]], weights: list[float], top: int) -> None:
    padded = weights + [1.0] * len(legs)
    plain = plain_sum([plain_minmax(leg, weight) for leg, weight in zip(legs, padded, strict=False)])
    found = fuse_scores(legs, weights, top)
    expected = plain[:top] if top > 0 else plain
    assert [label for label, _ in found] == [label for label, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected])


@given(st.lists(unique_scored, min_size=1, max_size=3), st.sampled_from([0.1, 3.0, 1e6]))
def test_rrf_ignores_score_scale(legs: list[list[tuple[str, float]]], scale: float) -> None:
    """Ranks come from the legs' order, so multiplying every score of a leg changes nothing."""
    best_first = [sorted(leg, key=lambda pair: -pair[1]) for leg in legs]
    scaled = [sorted(((label, score * scale) for label, score in leg), key=lambda pair: -pair[1]) for leg in legs]
    names = [[label for label, _ in leg] for leg in best_first]
    assert reciprocal_rank_fusion(names) == reciprocal_rank_fusion([[label for label, _ in leg] for leg in scaled])


@given(st.lists(unique_scored, min_size=1, max_size=3))
def test_stages_agree_with_the_functions(legs: list[list[tuple[str, float]]]) -> None:
    found = candidates_from_legs({str(place): leg for place, leg in enumerate(legs)})
    fused = rank(found, (ReciprocalRankFusion(k=5, first_rank=0),))
    plain = dict(reciprocal_rank_fusion([[label for label, _ in leg] for leg in legs], 5, 0))
    assert dict(zip(found.ids, fused.scores, strict=True)) == pytest.approx(plain)
    weights = two_leg_weights(0.25) if len(legs) == 2 else None
    mixed = rank(found, (ScoreFusion(alpha=0.25),))
    assert dict(zip(found.ids, mixed.scores, strict=True)) == pytest.approx(dict(fuse_scores(legs, weights)))


def test_an_id_twice_in_one_leg_adds_twice_in_the_function_and_is_refused_as_a_column() -> None:
    assert reciprocal_rank_fusion([["a", "a"]], k=1, first_rank=0) == [("a", 1 / 1 + 1 / 2)]
    with pytest.raises(ValueError, match="leg 'v': expected every id once"):
        candidates_from_legs({"v": [("a", 1.0), ("a", 2.0)]})


def test_pools_and_weights() -> None:
    assert [leg_pool(k) for k in (1, 10, 11, 100)] == [50, 50, 55, 500]
    assert two_leg_weights() == (0.5, 0.5)
    assert two_leg_weights(0.7) == (0.7, 1 - 0.7)


@pytest.mark.parametrize("alpha", [-0.1, 1.1, np.nan])
def test_alpha_outside_its_range_raises(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha: expected 0 to 1"):
        ScoreFusion(alpha)


def test_bad_input_raises() -> None:
    with pytest.raises(ValueError, match="first_rank: expected 0 or 1, found 2"):
        reciprocal_rank_fusion([["a"]], 5, 2)
    with pytest.raises(ValueError, match="expected finite scores and weights"):
        fuse_scores([[("a", np.nan)]])
    with pytest.raises(ValueError, match="k: expected a finite number"):
        ReciprocalRankFusion(k=np.nan)
