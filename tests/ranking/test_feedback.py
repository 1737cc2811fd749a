import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking import (
    Candidates,
    Feedback,
    Normalise,
    Outcome,
    Relevance,
    apply_feedback_ranking,
    is_misleading,
    rank,
    update_weight,
    weight_dominance,
)
from tests.ranking import strategies

FOUND = Candidates("abc", relevance=[0.9, 0.8, 0.7], weight=[0.5, 1.0, 1.2])


class TestApplyFeedbackRanking:
    def test_scores_ranks_and_order(self) -> None:
        ranked = apply_feedback_ranking(FOUND, weighting_enabled=True)
        assert ranked.weighted_score.tolist() == [0.9 * 0.5, 0.8 * 1.0, 0.7 * 1.2]
        assert ranked.unweighted_rank.tolist() == [0, 1, 2]
        assert ranked.weighted_rank.tolist() == [2, 1, 0]
        assert ranked.order.tolist() == [2, 1, 0]
        assert ranked.rank_delta.tolist() == [-2, 0, 2]

    def test_disabled_the_score_is_the_relevance_and_the_weight_is_still_asked_for(self) -> None:
        ranked = apply_feedback_ranking(FOUND, weighting_enabled=False)
        assert ranked.weighted_score.tolist() == [0.9, 0.8, 0.7]
        assert rank(FOUND, (Relevance(), Feedback(enabled=False))).scores.tolist() == [0.9, 0.8, 0.7]

    def test_minmax_spreads_a_narrow_band(self) -> None:
        found = Candidates("abc", relevance=[0.80, 0.82, 0.84], weight=[1.0, 1.0, 0.6])
        raw = rank(found, (Relevance(), Feedback()))
        spread = rank(found, (Relevance(), Feedback(normalise=Normalise.MINMAX)))
        assert raw.ids() == ["b", "a", "c"]
        assert spread.scores == pytest.approx([0.0 * 1.0, 0.5 * 1.0, 1.0 * 0.6])
        assert spread.ids() == ["c", "b", "a"]

    @given(strategies.candidates())
    def test_both_ranks_are_permutations_so_the_mean_delta_is_zero(self, found: Candidates) -> None:
        ranked = apply_feedback_ranking(found, weighting_enabled=True)
        assert sorted(ranked.weighted_rank) == sorted(ranked.unweighted_rank) == list(range(len(found)))
        assert ranked.rank_delta.sum() == 0

    @given(strategies.candidates())
    def test_the_stage_and_the_function_agree(self, found: Candidates) -> None:
        staged = rank(found, (Relevance(), Feedback()))
        assert staged.order().tolist() == apply_feedback_ranking(found, weighting_enabled=True).order.tolist()


class TestUpdateWeight:
    @pytest.mark.parametrize(
        ("weight", "outcome", "misleading", "expected"),
        [
            (1.0, "accepted", False, 1.0 * 0.9 + 0.1),
            (0.5, "accepted", False, 0.5 * 0.9 + 0.1),
            (0.5, "rejected", False, 0.5 * 0.85),
            (0.5, "rework", False, 0.5 * 0.85),
            (1.0, "rejected", True, 1.0 * 0.7),
            (0.5, "accepted", True, 0.5 * 0.8 + 0.2),
        ],
    )
    def test_formula(self, weight: float, outcome: str, misleading: bool, expected: float) -> None:  # noqa: FBT001
        assert update_weight(weight, outcome, misleading=misleading) == pytest.approx(expected)

    def test_an_unknown_outcome_raises(self) -> None:
        with pytest.raises(ValueError, match="'lost' is not a valid Outcome"):
            update_weight(1.0, "lost")

    @given(st.lists(st.tuples(st.sampled_from(list(Outcome)), st.booleans()), max_size=30))
    def test_promotion_is_recovery(self, history: list[tuple[Outcome, bool]]) -> None:
        weight = 1.0
        for outcome, misleading in history:
            weight = update_weight(weight, outcome, misleading=misleading)
            assert 0 <= weight <= 1 + 1e-12

    def test_misleading(self) -> None:
        assert is_misleading(named_by_diagnostics=True, failed_sessions=0)
        assert is_misleading(named_by_diagnostics=False, failed_sessions=3)
        assert not is_misleading(named_by_diagnostics=False, failed_sessions=2)


class TestWeightDominance:
    def test_shares_of_the_spread(self) -> None:
        relevance, weight = np.array([1.0, np.e]), np.array([1.0, np.e**3])
        assert weight_dominance(relevance, weight) == pytest.approx(9 / (9 + 1))

    def test_nothing_varies_or_nothing_is_positive(self) -> None:
        assert weight_dominance(np.array([0.5, 0.5]), np.array([1.0, 1.0])) is None
        assert weight_dominance(np.array([0.0, -0.5]), np.array([1.0, 0.5])) is None
        assert weight_dominance(np.array([]), np.array([])) is None

    @given(strategies.some_scores, st.sampled_from([0.5, 2.0, 10.0]))
    def test_scale_does_not_matter(self, relevance: np.ndarray, scale: float) -> None:
        weight = np.linspace(0.5, 1.0, relevance.size)
        mine, scaled = weight_dominance(relevance, weight), weight_dominance(relevance * scale, weight)
        assert (mine is None) == (scaled is None)
        if mine is not None and scaled is not None:
            assert mine == pytest.approx(scaled, abs=1e-9)
