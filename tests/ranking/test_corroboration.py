from collections.abc import Callable
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking.candidates import Candidates, MissingEvidence
from ranking.corroboration import Corroboration, corroboration_boost, rank_with_corroboration, with_corroboration
from ranking.near_duplicates import cluster_near_duplicates
from ranking.ranking import rank
from ranking.relevance import Relevance

TEXTS = ["Use async/await for database calls.", "use async await for database calls", "deploy weekly", "deploy weekly!"]


class TestAsDocumented:
    @pytest.mark.parametrize(("score", "printed"), [(1, "0.100"), (2, "0.158"), (4, "0.232")])
    def test_the_table(self, score: int, printed: str) -> None:
        """000, "The boost formula"."""
        assert f"{corroboration_boost(score):.3f}" == printed

    def test_the_table_contradicts_its_formula_at_eight(self) -> None:
        """000 prints +0.300; log2(9) · 0.1 is 0.317, and 0.300 belongs to a score of 7. The formula wins."""
        assert f"{corroboration_boost(8):.3f}" == "0.317"
        assert f"{corroboration_boost(7):.3f}" == "0.300"

    def test_outside_of_clusters_nothing_is_added(self) -> None:
        """000: "Observations not in any cluster receive no boost (+0.0)"."""
        assert corroboration_boost(0) == 0.0

    def test_boost_before_weight(self) -> None:
        """000, "Ordering pipeline summary": a score is boosted, then multiplied, never the other way round."""
        candidates = Candidates(["a"], relevance=[0.8], corroborating=[1])
        boosted = rank(candidates, (Relevance(), Corroboration())).scores[0]
        assert boosted * 0.5 == pytest.approx((0.8 + 0.1) * 0.5)


class TestBoost:
    @given(st.lists(st.integers(0, 40), min_size=2, max_size=20), st.sampled_from([0.0, 0.05, 0.1, 1.0]))
    def test_more_voices_never_count_less(self, counts: list[int], scale: float) -> None:
        ordered = corroboration_boost(np.sort(counts), scale)
        assert (np.diff(ordered) >= 0).all()
        assert (ordered >= 0).all()

    @pytest.mark.parametrize("count", [-1, float("nan"), float("inf")])
    def test_no_such_count(self, count: float) -> None:
        with pytest.raises(ValueError, match="corroborating: expected counts of 0 or more, found"):
            corroboration_boost([1, count])

    @pytest.mark.parametrize("scale", [-0.1, float("nan")])
    def test_no_such_scale(self, scale: float) -> None:
        with pytest.raises(ValueError, match="scale: expected 0 or more, found"):
            Corroboration(scale)


class TestRankWithCorroboration:
    def test_settles_a_near_tie_and_leaves_the_trail(self) -> None:
        candidates = Candidates("abcd", relevance=[0.70, 0.60, 0.75, 0.10], content=TEXTS)
        ranking = rank_with_corroboration(candidates, cluster_near_duplicates([*TEXTS[:2], "one", "other"]))
        assert ranking.ids() == ["a", "c", "b", "d"]
        assert ranking.scores.tolist() == pytest.approx([0.70 + 0.1, 0.60 + 0.1, 0.75, 0.10])
        assert [type(step.stage) for step in ranking.steps] == [Relevance, Corroboration]

    def test_leaves_its_input_alone(self) -> None:
        """000: "the original `scored` array is NOT mutated"."""
        relevance = np.array([0.5, 0.5, 0.5, 0.5])
        candidates = Candidates("abcd", relevance=relevance, content=TEXTS)
        rank_with_corroboration(candidates, cluster_near_duplicates(candidates))
        assert relevance.tolist() == [0.5] * 4
        assert "corroborating" not in candidates

    def test_candidates_are_found_by_id(self) -> None:
        """A retrieval sees some of the observations of a pass, in another order, and some the pass did not see."""
        clusters = cluster_near_duplicates({"ids": ["p", "q", "r", "s"], "content": [*TEXTS[:2], TEXTS[0], "none"]})
        candidates = Candidates(["new", "r", "s"], relevance=[0.3, 0.2, 0.1])
        seen = with_corroboration(candidates, clusters)
        assert seen["corroborating"].tolist() == [0, 2, 0]
        assert seen["cluster"].tolist() == [-1, 0, -1]

    @pytest.mark.parametrize(
        "kind",
        [
            str,
            int,
            float,
            lambda number: (number, "x"),
            lambda number: UUID(int=number),
            lambda number: str(number) if number % 2 else number,
            lambda number: 2**70 + number,
        ],
    )
    @given(st.lists(st.integers(0, 9), min_size=1, max_size=8), st.lists(st.integers(0, 9), unique=True, max_size=8))
    def test_any_id_is_found_as_in_a_dictionary(
        self, kind: Callable[[int], object], passed: list[int], asked: list[int]
    ) -> None:
        clusters = cluster_near_duplicates({"ids": [kind(n) for n in passed], "content": ["x"] * len(passed)})
        row_of = {kind(n): row for row, n in enumerate(passed)}
        found = clusters.rows_of(Candidates([kind(n) for n in asked]))
        if passed != asked:
            assert found.tolist() == [row_of.get(kind(n), -1) for n in asked]

    def test_a_few_candidates_are_found_in_a_large_pass(self) -> None:
        ids = [f"observation {number}" for number in range(100_000)]
        clusters = cluster_near_duplicates({"ids": ids, "content": [""] * len(ids)})
        few = Candidates(ids[-20:])
        assert clusters.rows_of(few).tolist() == list(range(99_980, 100_000))

    def test_without_ids_rows_must_be_the_same(self) -> None:
        candidates = Candidates("ab", relevance=[1, 2])
        with pytest.raises(ValueError, match="clusters without ids: expected 4 candidates, found 2"):
            rank_with_corroboration(candidates, cluster_near_duplicates(TEXTS))

    def test_a_stage_without_its_column(self) -> None:
        with pytest.raises(MissingEvidence, match="no column 'corroborating'"):
            rank(Candidates("ab", relevance=[1, 2]), (Relevance(), Corroboration()))

    def test_no_candidates(self) -> None:
        assert rank_with_corroboration(Candidates([], relevance=[]), cluster_near_duplicates(TEXTS[:0])).ids() == []
