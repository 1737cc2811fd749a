import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking import (
    Candidates,
    Corroboration,
    CrossEncoder,
    Feedback,
    Knob,
    MissingEvidence,
    Mmr,
    Relevance,
    Stage,
    TokenBudget,
    flip_distance,
    flips_between,
    rank,
)
from ranking.flips import nearest_flip

FOUND = Candidates(
    "ab", relevance=[0.80, 0.70], weight=[1.0, 0.9], corroborating=[0, 3], content=["x", "y"], embeddings=np.eye(2)
)
STAGES: tuple[Stage, ...] = (Relevance(), Corroboration(scale=0.01), Feedback())


def flips(found: Candidates = FOUND, stages: tuple[Stage, ...] = STAGES) -> dict[Knob, float]:
    return {flip.knob: flip.needed for flip in flip_distance(found, stages, "a", "b")}


def test_each_knob_is_where_the_scores_meet() -> None:
    """(0.70 + s·2)·0.9 = 0.80; 0.80·w = (0.70 + 0.02)·0.9; (0.70 + 0.02)·w = 0.80."""
    needed = flips()
    assert needed[Knob.SCALE] == pytest.approx((0.80 / 0.9 - 0.70) / 2)
    assert needed[Knob.UPPER_WEIGHT] == pytest.approx(0.72 * 0.9 / 0.80)
    assert needed[Knob.LOWER_WEIGHT] == pytest.approx(0.80 / 0.72)


def test_the_smallest_turn_comes_first_and_really_swaps() -> None:
    found = flip_distance(FOUND, STAGES, "a", "b")
    assert [abs(flip.change) for flip in found] == sorted(abs(flip.change) for flip in found)
    scale = next(flip for flip in found if flip.knob is Knob.SCALE).needed
    assert rank(FOUND, (Relevance(), Corroboration(scale=scale), Feedback())).ids() == ["b", "a"]
    assert rank(FOUND, (Relevance(), Corroboration(scale=scale - 1e-6), Feedback())).ids() == ["a", "b"]


def test_lambda() -> None:
    """The second pick: λ·0.5 - (1-λ)·0.6 = λ·0.3 - 0 at λ = 0.75."""
    vectors = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]])
    found = Candidates(["first", "a", "b"], relevance=[0.9, 0.5, 0.3], embeddings=vectors)
    needed = {flip.knob: flip for flip in flip_distance(found, (Relevance(), Mmr(k=3, lam=0.9)), "a", "b")}
    assert needed[Knob.LAMBDA].needed == pytest.approx(0.75, abs=1e-9)
    assert needed[Knob.LAMBDA].change == pytest.approx(-0.15, abs=1e-9)


def test_a_row_dropped_by_the_budget_stands_below() -> None:
    stages: tuple[Stage, ...] = (*STAGES, TokenBudget(1))
    assert flips(stages=stages)[Knob.SCALE] == pytest.approx((0.80 / 0.9 - 0.70) / 2)


def test_a_negative_weight_can_be_turned_too() -> None:
    """0.80·1 stands above 0.70·(-0.5): b passes at 0.80 / 0.70, a would need a weight below 0."""
    found = Candidates("ab", relevance=[0.80, 0.70], weight=[1.0, -0.5])
    needed = flips(found, (Relevance(), Feedback()))
    assert needed == {Knob.LOWER_WEIGHT: pytest.approx(0.80 / 0.70)}
    below = Candidates("ab", relevance=[0.80, -0.70], weight=[0.1, -0.1])
    assert flips(below, (Relevance(), Feedback()))[Knob.UPPER_WEIGHT] == pytest.approx(0.07 / 0.80)


def test_nothing_helps_where_no_knob_counts() -> None:
    assert flip_distance(FOUND, (Relevance(),), "a", "b") == ()
    assert flip_distance(FOUND, (Relevance(), Feedback(enabled=False)), "a", "b") == ()


def test_the_upper_row_must_stand_above() -> None:
    with pytest.raises(ValueError, match="expected 'b' above 'a', found it below"):
        flip_distance(FOUND, STAGES, "b", "a")


@given(st.floats(0.01, 0.99), st.floats(0.0, 1.0))
def test_nearest_flip_finds_a_single_change(current: float, change: float) -> None:
    above = current >= change
    found = nearest_flip(lambda value: (value >= change) != above, current, 0.0, 1.0)
    assert found is None or found == pytest.approx(change, abs=1e-6)
    assert found is not None or abs(current - change) < 1e-6 or change in {0.0, 1.0}


class TestUntold:
    """Three rows, a pool of two: c was not read. A boost that lifts it into the pool asks for what nobody knows."""

    FOUND = Candidates(
        "abc", relevance=[0.80, 0.70, 0.60], weight=[1.0, 1.0, 1.0], corroborating=[0, 1, 3],
        pair_score=[0.9, 0.1, np.nan],
    )  # fmt: skip
    STAGES: tuple[Stage, ...] = (Relevance(), Corroboration(0.01), CrossEncoder(2), Feedback())

    def test_a_knob_that_cannot_be_told_is_named_and_the_others_are_told(self) -> None:
        """From a scale of 0.10 on c is in the pool; a has 0.6·0.80 + 0.4·0.9 = 0.84, b 0.6·0.71 + 0.4·0.1 = 0.466."""
        found = flips_between(self.FOUND, self.STAGES, "a", "b")
        assert found.untold == (Knob.SCALE,)
        assert {flip.knob: flip.needed for flip in found.found} == {
            Knob.UPPER_WEIGHT: pytest.approx(0.466 / 0.84),
            Knob.LOWER_WEIGHT: pytest.approx(0.84 / 0.466),
        }
        with pytest.raises(MissingEvidence, match="nothing is known of turning boost scale"):
            flip_distance(self.FOUND, self.STAGES, "a", "b")

    def test_a_flip_nearer_than_what_is_unknown_is_told(self) -> None:
        """0.70 + s = 0.80 at 0.10, where c has 0.10 + 0.20 and is far from the pool of two."""
        found = Candidates("abc", relevance=[0.80, 0.70, 0.10], corroborating=[0, 1, 3], pair_score=[0.5, 0.5, np.nan])
        flips = flips_between(found, (Relevance(), Corroboration(0.01), CrossEncoder(2)), "a", "b")
        assert flips.untold == ()
        assert [flip.needed for flip in flips.found] == [pytest.approx(0.10)]


def slow_flip(found: Candidates, scale: float, steps: int = 400) -> float | None:
    """The first scale of a fine grid, going outwards, at which b stands above a: the whole pipeline for each."""
    for step in range(1, steps + 1):
        for value in (scale - step * 0.005, scale + step * 0.005):
            if value >= 0 and rank(found, (Relevance(), Corroboration(value), Feedback())).ids()[0] == "b":
                return value
    return None


@given(st.sampled_from([0, 1, 3, 7]), st.sampled_from([0, 1, 3, 7]), st.sampled_from([0.5, 0.9, 1.0]))
def test_as_a_walk_over_a_grid(first: int, second: int, weight: float) -> None:
    found = Candidates("ab", relevance=[0.80, 0.70], weight=[1.0, weight], corroborating=[first, second])
    if rank(found, STAGES).ids() == ["a", "b"]:
        walked, told = slow_flip(found, 0.01), flips(found).get(Knob.SCALE)
        assert (walked is None) == (told is None or told > 2.0)
        assert walked is None or told == pytest.approx(walked, abs=0.0051)
