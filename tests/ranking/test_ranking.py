import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking import (
    Candidates,
    Corroboration,
    CrossEncoder,
    Feedback,
    Head,
    Mmr,
    Ranking,
    Relevance,
    SessionRecency,
    TokenBudget,
    rank,
)
from ranking.ranking import Step
from tests.ranking import strategies

FOUND = Candidates(
    ["a", "b", "c"], relevance=[0.9, 0.8, 0.7], weight=[0.5, 1.0, 1.2], corroborating=[0, 8, 0], content=["x", "y", "z"]
)


class TestTrail:
    def test_a_pipeline_reads_downwards(self) -> None:
        ranking = rank(FOUND, (Relevance(), Corroboration(), Feedback()))
        relevance, corroborated, weighted = (step.scores for step in ranking.steps)
        assert relevance.tolist() == [0.9, 0.8, 0.7]
        assert corroborated[1] == 0.8 + 0.1 * np.log2(1 + 8)
        assert weighted.tolist() == [0.9 * 0.5, corroborated[1] * 1.0, 0.7 * 1.2]
        assert ranking.ids() == ["b", "c", "a"]

    def test_boost_then_weight_is_not_weight_then_boost(self) -> None:
        """The reason why pipelines are tuples: a + b * c would bind as 0.85, the documents mean 0.45."""
        found = Candidates(["a"], relevance=[0.8], weight=[0.5], corroborating=[1])
        assert rank(found, (Relevance(), Corroboration(), Feedback())).scores[0] == pytest.approx((0.8 + 0.1) * 0.5)

    def test_without_stages_candidate_order_stands(self) -> None:
        assert rank(FOUND, ()).ids() == ["a", "b", "c"]
        assert rank(FOUND, ()).scores.tolist() == [0, 0, 0]

    def test_scores_that_overflow_raise(self) -> None:
        huge = Candidates(["a"], relevance=[1e300], weight=[1e300])
        with np.errstate(over="ignore"), pytest.raises(ValueError, match="expected finite scores, found inf"):
            rank(huge, (Relevance(), Feedback()))

    def test_candidates_are_not_mutated(self) -> None:
        before = FOUND["relevance"].copy()
        rank(FOUND, (Relevance(), Corroboration(), Feedback(), TokenBudget(1)))
        assert (FOUND["relevance"] == before).all()


class TestOrderThatStands:
    def test_rows_below_the_pool_stay_below_whatever_they_score_later(self) -> None:
        found = Candidates(
            range(4), relevance=[0.9, 0.8, 0.7, 0.6], pair_score=[0.0, 1.0, 0.0, 0.0], shown_before=[False] * 3 + [True]
        )
        ranking = rank(found, (Relevance(), CrossEncoder(pool=2), SessionRecency(boost=5.0)))
        assert ranking.ids() == [1, 0, 2, 3]
        assert ranking.scores[ranking.last.find(np.array([3]))][0] == 5.6

    def test_the_order_of_choice_survives_later_scores(self) -> None:
        vectors = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
        found = Candidates("abc", relevance=[0.9, 0.8, 0.1], embeddings=vectors, shown_before=[False, True, False])
        ranking = rank(found, (Relevance(), Mmr(k=3), SessionRecency(boost=9.0)))
        assert ranking.ids() == ["a", "c", "b"]

    def test_head_drops_without_fixing_an_order(self) -> None:
        ranking = rank(FOUND, (Relevance(), Head(2), Feedback()))
        assert ranking.ids() == ["b", "a"]


@given(strategies.candidates(), st.integers(0, 15))
def test_best_is_the_head_of_the_order(found: Candidates, k: int) -> None:
    ranking = rank(found, (Relevance(), Feedback()))
    assert ranking.best(k).tolist() == ranking.order()[:k].tolist()
    plain = sorted(range(len(found)), key=lambda row: -(found["relevance"] * found["weight"])[row])
    assert ranking.order().tolist() == plain


@given(strategies.candidates())
def test_ranks_of_agree_with_the_order_after_every_stage(found: Candidates) -> None:
    ranking = rank(found, (Relevance(), Feedback(), CrossEncoder(pool=3), Mmr(k=4), TokenBudget(4)))
    for step in ranking.steps:
        order = step.positions[step.order()]
        places = step.ranks_of(found.everything)
        assert [int(places[row]) for row in order] == list(range(len(order)))
        assert (places >= 0).sum() == len(order)


@st.composite
def tiered(draw: st.DrawFn) -> Step:
    """A step of shuffled rows in few tiers with few scores."""
    n = draw(st.integers(0, 12))
    positions = draw(st.permutations(range(2 * n)))[:n]
    tiers, scores = (draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)) for _ in range(2))
    return Step(Relevance(), np.array(positions, np.intp), np.array(scores, np.float64), np.array(tiers, np.intp))


@given(tiered(), st.integers(-1, 14), st.lists(st.integers(0, 25), max_size=6))
def test_a_few_rows_of_a_tiered_step_stand_where_the_whole_order_has_them(step: Step, k: int, rows: list[int]) -> None:
    tiers = np.empty(0) if step.tiers is None else step.tiers
    keys = list(zip(tiers, -step.scores, step.positions, strict=True))
    kept = sorted(range(len(keys)), key=keys.__getitem__)
    assert step.head(k).tolist() == kept[: max(k, 0)]
    ordered = step.positions[kept].tolist()
    held = step.positions.tolist()
    assert step.ranks_of(np.array(rows, np.intp)).tolist() == [ordered.index(r) if r in ordered else -1 for r in rows]
    assert step.find(np.array(rows, np.intp)).tolist() == [held.index(r) if r in held else -1 for r in rows]


def test_an_empty_ranking_answers_too() -> None:
    ranking = rank(Candidates([], relevance=[], weight=[], content=[]), (Relevance(), Feedback(), TokenBudget()))
    assert isinstance(ranking, Ranking)
    assert ranking.ids() == []
    assert ranking.best(5).size == 0


@given(st.permutations(range(6)))
def test_with_distinct_scores_permuting_candidates_permutes_the_result(shuffle: list[int]) -> None:
    found = Candidates(
        "abcdef", relevance=[0.9, 0.7, 0.5, 0.8, 0.6, 0.4], weight=[0.5, 1.0, 0.9, 0.7, 0.8, 1.2],
        corroborating=[0, 1, 5, 0, 2, 0], content=["xxxx"] * 6, embeddings=np.eye(6),
    )  # fmt: skip
    stages = (Relevance(), Corroboration(), Feedback(), Mmr(k=5), TokenBudget(4))
    assert rank(found.take(shuffle), stages).ids() == rank(found, stages).ids()
