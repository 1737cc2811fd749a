import re
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
    Ranking,
    Relevance,
    Stage,
    TokenBudget,
    explain,
    rank,
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
            "corroborated by 8: 0.1·log2(1 + 8) = +0.3170",
            "multiplied by feedback weight 1.000: 1.1170 × 1.000 = 1.1170",
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

    def test_a_stage_without_words_is_still_explained(self) -> None:
        def double(ranking: Ranking) -> Ranking:
            return ranking.scored(double, ranking.scores * 2)

        row = explain(rank(FOUND, (Relevance(), double)), 1).rows[0]
        assert row.effects[1].sentence == "function: +0.9000"

    @pytest.mark.parametrize(("score", "digits", "text"), [(-1e-5, 4, "0.0000"), (1e30, 2, f"{int(1e30)}.00")])
    def test_what_is_shown_has_no_minus_zero_and_no_largest_number(self, score: float, digits: int, text: str) -> None:
        row = explain(rank(Candidates("a", relevance=[score]), (Relevance(),))).rows[0]
        assert [tuple(map(str, pair)) for pair in row.shown(digits)] == [(text, text)]
        assert "-0.0000" not in row.effects[0].sentence

    def test_a_sentence_shows_the_delta_of_the_table(self) -> None:
        """0.8001 to 0.9585 is 0.1584 in the table, though 0.1·log2(3) rounds to 0.1585."""
        row = explain(rank(Candidates("a", relevance=[0.800052], corroborating=[2]), STAGES[:2])).rows[0]
        assert str(row.shown()[1][1]) == "0.1584"
        assert row.effects[1].sentence == "corroborated by 2: 0.1·log2(1 + 2) = +0.1584"

    @given(strategies.candidates(), st.sampled_from([FULL, MEMSENSE]))
    def test_every_delta_in_a_sentence_is_the_one_shown(self, found: Candidates, stages: tuple[Stage, ...]) -> None:
        for row in explain(rank(found, stages), ids=found.ids.tolist()).rows:
            for effect, (_, delta) in zip(row.effects, row.shown(), strict=True):
                assert set(re.findall(r"[+-]\d+\.\d{4}", effect.sentence)) <= {f"{delta:+}"}
