from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking import (
    FULL,
    MEMSENSE,
    Candidates,
    Corroboration,
    Feedback,
    Head,
    Mmr,
    Ranking,
    Relevance,
    Stage,
    TokenBudget,
    explain,
    rank,
    why_above,
    why_not_returned,
)
from tests.ranking import strategies

FOUND = Candidates(
    "abc",
    relevance=[0.9, 0.8, 0.7],
    weight=[0.5, 1.0, 1.2],
    corroborating=[0, 8, 0],
    content=["x" * 80, "y" * 80, "z" * 80],
)
STAGES = (Relevance(), Corroboration(), Feedback(), TokenBudget(40))
RANKING = rank(FOUND, STAGES)


class TestRows:
    def test_score_delta_rank_and_a_sentence_after_every_stage(self) -> None:
        best, second = explain(RANKING).rows
        assert (best.id, second.id) == ("b", "c")
        assert [effect.rank for effect in best.effects] == [1, 0, 0, 0]
        assert [effect.delta for effect in best.effects] == pytest.approx([0.8, 0.316993, 0.0, 0.0], abs=1e-6)
        assert [effect.sentence for effect in best.effects] == [
            "recalled with relevance 0.8000",
            "corroborated by 8: +0.3170",
            "multiplied by feedback weight 1.000",
            "fits the budget of 40 tokens",
        ]
        assert second.effects[1].sentence == "Corroboration adds nothing"

    def test_which_stage_dropped_a_row(self) -> None:
        row = explain(RANKING, ids=["a"]).rows[0]
        assert row.dropped_by == TokenBudget(40)
        assert row.rank is None
        assert row.effects[-1].sentence == "does not fit the budget of 40 tokens"
        assert not row.effects[-1].held

    @given(strategies.candidates(), st.sampled_from([FULL, MEMSENSE]), st.integers(0, 6))
    def test_deltas_shown_add_up_to_the_last_digit_shown(
        self, found: Candidates, stages: tuple[Stage, ...], digits: int
    ) -> None:
        for row in explain(rank(found, stages), ids=found.ids.tolist()).rows:
            shown = row.shown(digits)
            assert sum((delta for _, delta in shown), Decimal(0)) == (shown[-1][0] if shown else 0)
            assert all(abs(float(score) - effect.score) <= 0.5 * 10**-digits + 1e-12 for (score, _), effect in
                       zip(shown, row.effects, strict=True))  # fmt: skip

    @given(strategies.candidates(), st.sampled_from([FULL, MEMSENSE]))
    def test_a_row_is_either_ranked_or_dropped_by_a_stage(self, found: Candidates, stages: tuple[Stage, ...]) -> None:
        ranking = rank(found, stages)
        returned = ranking.ids()
        for row in explain(ranking, ids=found.ids.tolist()).rows:
            assert (row.dropped_by is None) == (row.id in returned)
            if row.dropped_by is None:
                assert row.rank is not None
                assert returned[row.rank] == row.id

    def test_rows_are_computed_when_first_asked_for(self) -> None:
        explanation = explain(RANKING, 1)
        assert "rows" not in vars(explanation)
        assert len(explanation) == len(explanation.rows) == 1


class TestWhy:
    def test_why_above(self) -> None:
        sentence = why_above(RANKING, "b", "c")
        assert sentence.startswith("b stands above c since Relevance: +0.8000 against +0.7000")
        assert why_above(RANKING, "c", "b").startswith("c does not stand above b: b stands above c")

    def test_the_stage_that_turned_it_is_named(self) -> None:
        ranking = rank(FOUND, STAGES[:3])
        assert why_above(ranking, "c", "a").startswith("c stands above a since Feedback: +0.1400 against -0.4500")

    def test_ties_say_so(self) -> None:
        tied = rank(Candidates("ab", relevance=[0.5, 0.5]), (Relevance(),))
        assert "scores are equal and candidate order decides" in why_above(tied, "a", "b")

    def test_an_order_that_was_fixed_says_so(self) -> None:
        vectors = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
        chosen = rank(Candidates("abc", relevance=[0.9, 0.8, 0.1], embeddings=vectors), (Relevance(), Mmr(k=3)))
        assert "since Mmr: that stage fixed the order" in why_above(chosen, "c", "b")

    def test_rows_that_were_not_returned_or_not_ranked(self) -> None:
        assert why_above(RANKING, "b", "a") == "a was not returned: does not fit the budget of 40 tokens"
        assert "the pipeline has no stages" in why_above(rank(FOUND, ()), "a", "b")

    def test_why_not_returned(self) -> None:
        assert why_not_returned(RANKING, "a") == (
            "a was dropped by TokenBudget from place 3: does not fit the budget of 40 tokens"
        )
        assert why_not_returned(RANKING, "c", k=1) == "c has place 2, beyond the best 1"
        assert why_not_returned(RANKING, "b", k=1) == "b was returned at place 1"
        assert "dropped by Head from place 3: not among the best 1" in why_not_returned(
            rank(FOUND, (Relevance(), Head(1))), "c"
        )

    def test_a_stage_without_words_is_still_explained(self) -> None:
        def double(ranking: Ranking) -> Ranking:
            return ranking.scored(double, ranking.scores * 2)

        row = explain(rank(FOUND, (Relevance(), double)), 1).rows[0]
        assert row.effects[1].sentence == "function: +0.9000"
