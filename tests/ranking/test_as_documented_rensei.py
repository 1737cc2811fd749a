"""Every number that documents 000 and 001 print, and every place where they contradict themselves or each other."""

from inspect import signature

import numpy as np
import pytest

import ranking
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
    cluster_near_duplicates,
    corroboration_boost,
    hamming,
    near_components,
    near_pairs,
    rank,
    simhash64,
    update_weight,
)


def boost(corroborating: float) -> float:
    return float(corroboration_boost(np.array([corroborating], dtype=np.float64))[0])


class TestAsDocumented000:
    @pytest.mark.parametrize(("corroborating", "printed"), [(0, 0.0), (1, 0.100), (2, 0.158), (4, 0.232)])
    def test_the_boost_table(self, corroborating: int, printed: float) -> None:
        """000, The boost formula: log2(1 + score) × 0.1, and +0.0 outside any cluster."""
        assert round(boost(corroborating), 3) == printed

    def test_the_table_contradicts_the_formula_at_eight(self) -> None:
        """000 prints +0.300 for 8; its own formula gives 0.1·log2(9) = 0.317, and the formula wins."""
        assert round(boost(8), 3) == 0.317
        assert boost(7) == pytest.approx(0.300)

    def test_64_bits_and_three_of_them(self) -> None:
        """000, SimHash near-duplicate detection."""
        assert simhash64(["any text"]).dtype == np.uint64
        one, other = simhash64(["use async/await for database calls", "Use async await for database calls."])
        assert hamming(one, other) <= 3
        defaults = [signature(function).parameters["threshold"].default for function in (near_pairs, near_components)]
        assert [*defaults, signature(cluster_near_duplicates).parameters["threshold"].default] == [3, 3, 3]

    def test_a_canonical_carries_no_score(self) -> None:
        """000 types canonical as ScoredObservation; two lines above, clusters are built with the score taken off."""
        clusters = cluster_near_duplicates({"ids": ["x", "y"], "content": ["one same text", "one same text"]})
        assert clusters.canonical.tolist() == [0]
        with pytest.raises(ValueError, match="unknown column 'relevance'"):
            cluster_near_duplicates({"ids": ["x"], "content": ["one"], "relevance": [0.5]})

    def test_stripping_punctuation_contradicts_what_the_system_does(self) -> None:
        """000 says it strips punctuation, which would make async/await one token; the system splits there."""
        assert simhash64(["async/await"])[0] == simhash64(["async await"])[0] != simhash64(["asyncawait"])[0]

    def test_three_bits_do_not_catch_minor_rewording(self) -> None:
        """000: "chosen empirically to catch paraphrases and minor rewording"; one word of nine moves 7 bits."""
        fox = [f"the quick brown fox {verb} over the lazy dog" for verb in ("jumps", "leaps")]
        assert hamming(*simhash64(fox)) == 7

    def test_agents_are_promised_and_members_are_counted(self) -> None:
        """000 promises "multiple independent agents", its table says "one corroborating agent", it counts members.

        Ten copies by one agent therefore get as much as ten agents would; counting agents is our option.
        """
        assert boost(10) == pytest.approx(0.1 * np.log2(11))

    def test_the_boost_is_small_only_for_small_clusters(self) -> None:
        """000: "not a dominant reranker"; it has no cap, and 1 023 members add 1.0, more than any cosine."""
        assert boost(1) == 0.1
        assert boost(1023) == 1.0

    def test_the_live_pipeline(self) -> None:
        """000, Ordering pipeline summary: cosine, × weight, budget."""
        assert [type(stage) for stage in LIVE] == [Relevance, Head, Feedback, TokenBudget]

    def test_the_intended_pipeline(self) -> None:
        """000: the boost stands between the store's score and the weight, so a weight scales the boost too."""
        assert [type(stage) for stage in INTENDED] == [Relevance, Head, Corroboration, Feedback, TokenBudget]
        found = Candidates("a", relevance=[0.8], weight=[0.5], corroborating=[1], content=["x"])
        assert rank(found, INTENDED).scores == pytest.approx([(0.8 + 0.1) * 0.5])

    def test_limits(self) -> None:
        """000 retrieves "all observations", then "up to 10,000 rows"; the library keeps the newest and says so.

        Its "default 60 seconds" is the interval of the job that calls this; a pass reads no clock and keeps no timer.
        """
        assert signature(cluster_near_duplicates).parameters["limit"].default == 10_000
        assert not {"interval", "seconds", "now"} & set(signature(cluster_near_duplicates).parameters)


class TestAsDocumented001:
    FOUND = Candidates("abc", relevance=[0.9, 0.8, 0.7], weight=[0.5, 1.0, 1.2])

    def test_the_weighted_score(self) -> None:
        """001, The weighted score formula."""
        found = apply_feedback_ranking(self.FOUND, weighting_enabled=True)
        assert found.weighted_score == pytest.approx([0.9 * 0.5, 0.8 * 1.0, 0.7 * 1.2])

    def test_disabled_it_is_the_relevance(self) -> None:
        """001: with feedback_weighting_disabled the weights are ignored for ordering but still logged.

        The column weighted_score is described as relevanceScore × feedbackWeight; in such rows it is the relevance.
        """
        assert apply_feedback_ranking(self.FOUND, weighting_enabled=False).weighted_score.tolist() == [0.9, 0.8, 0.7]

    def test_ranking_writes_nothing(self) -> None:
        """001: "every retrieval with a sessionId writes one row per candidate", and skipAbLog keeps one from it.

        Ranking knows no session and logs nothing; whether to write is the caller's to say, once.
        """
        assert list(signature(apply_feedback_ranking).parameters) == ["candidates", "weighting_enabled", "normalise"]

    def test_ranks_are_0_based(self) -> None:
        """001, AdjustedCandidate: both ranks count from 0."""
        found = apply_feedback_ranking(self.FOUND, weighting_enabled=True)
        assert (found.unweighted_rank.min(), found.weighted_rank.min()) == (0, 0)

    def test_a_weight_starts_at_1(self) -> None:
        """001: the EMA weight starts at 1.0."""
        assert update_weight(1.0, "accepted") == 1.0

    def test_promotion_contradicts_the_moving_average(self) -> None:
        """001: what appears in successful sessions is "promoted"; from 1.0 with a signal of 1 a weight cannot rise.

        Promotion is recovery; the 1.2 in the system's own ranking tests is a weight it can never learn.
        """
        weight = 1.0
        for _ in range(100):
            weight = update_weight(weight, "accepted")
        assert weight == 1.0

    def test_relevance_does_not_always_dominate(self) -> None:
        """001: "semantic relevance still dominates"; in a narrow band of cosines the weight decides alone."""
        narrow = Candidates("ab", relevance=[0.84, 0.80], weight=[0.9, 1.0])
        assert apply_feedback_ranking(narrow, weighting_enabled=True).order.tolist() == [1, 0]
        dominance = ranking.weight_dominance(narrow["relevance"], narrow["weight"])
        assert dominance is not None
        assert dominance > 0.8

    def test_twenty_candidates(self) -> None:
        """001 recalls "up to 20 raw observation candidates", 000 shows the same store called with limit 10 000."""
        assert Head().k == 20
        assert LIVE[1] == INTENDED[1] == Head(20)

    def test_similarity_is_called_a_distance(self) -> None:
        """001: "cosine-similarity distance"; scores sort descending, so it is the similarity."""
        assert apply_feedback_ranking(self.FOUND, weighting_enabled=False).order.tolist() == [0, 1, 2]
