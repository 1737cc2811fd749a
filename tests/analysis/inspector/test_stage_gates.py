"""Why not, from stage to stage: what each of them let go, against numbers worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from analysis.inspector.gates import State, Verdict
from analysis.inspector.stage_gates import lowest_rank
from ranking import MEMSENSE, Dedup, Floor, Head, Mmr, Relevance, TokenBudget
from ranking.mmr import mmr
from tests import sample
from tests.analysis.corroboration.angles import at, cos
from tests.analysis.inspector.asking import asked, gate, lost
from tests.memories import add_memory

if TYPE_CHECKING:
    import psycopg

    from retrieval.retrieve import Memory

    Owner = psycopg.Connection[Any]


class TestStages:
    def test_head(self, memory: Memory, fan: list[str]) -> None:
        answer = asked(memory, fan[6], Relevance(), Head(5))
        assert (answer.verdict, lost(answer)) == (Verdict.HEAD, ["best rows"])
        assert gate(answer, "best rows").needed == pytest.approx(cos(5), abs=1e-6)
        assert "rank 7 of 20, beyond the best 5; its score is 0.993, the last kept has 0.996" in answer.sentence

    @pytest.mark.parametrize(("mode", "value", "floor"), [("absolute", 0.97, 0.97), ("relative_to_top", 0.98, None)])
    def test_floor(self, memory: Memory, fan: list[str], mode: str, value: float, floor: float | None) -> None:
        answer = asked(memory, fan[14], Relevance(), Floor(mode, value))  # type: ignore[arg-type]
        assert (answer.verdict, lost(answer)) == (Verdict.FLOOR, ["floor"])
        lost_at = gate(answer, "floor")
        assert lost_at.score == pytest.approx(cos(15), abs=1e-6)
        assert lost_at.needed == pytest.approx(floor or 0.98 * cos(1), abs=1e-6)
        assert "Lost at the floor from rank 15: its score is 0.966, the floor 0.9" in answer.sentence

    def test_a_copy(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        copy = add_memory(owner, "org_a", 500, " NOTE   1", at(10.5))
        answer = asked(memory, copy, Relevance(), Dedup(), TokenBudget(500))
        assert (answer.verdict, lost(answer)) == (Verdict.DUPLICATE, ["dedup"])
        assert f"Lost as a duplicate of {fan[0]}, which says the same at rank 1 while it stood at rank 11" in (
            answer.sentence
        )
        assert "0 of 64 SimHash bits differ" in answer.sentence
        assert gate(answer, "budget").state is State.NOT_REACHED

    def test_one_more_than_the_limit_of_copies(self, memory: Memory, fan: list[str]) -> None:
        answer = asked(memory, fan[5], Relevance(), Dedup(limit=3))
        assert "rank 6, and its limit of 3 is reached above it" in answer.sentence

    def test_a_near_duplicate(self, memory: Memory, fan: list[str]) -> None:
        """All 20 recalled lie within 19°, cosine 0.9455: MMR falls back to rank and takes 1, 2 and 3."""
        answer = asked(memory, fan[9], Relevance(), Mmr(k=3))
        assert (answer.verdict, lost(answer)) == (Verdict.DUPLICATE, ["MMR"])
        assert f"duplicate of {fan[1]}, chosen at place 2" in answer.sentence
        assert f"redundancy {cos(8):.3g} reaches the threshold 0.94 (cosine {cos(8):.3g}, " in answer.sentence

    def test_not_different_enough(self, memory: Memory, fan: list[str]) -> None:
        stage = Mmr(k=3, lam=0.78, duplicate_threshold=1.1)
        answer = asked(memory, fan[9], Relevance(), stage)
        assert (answer.verdict, lost(answer)) == (Verdict.DIVERSITY, ["MMR"])
        needed = gate(answer, "MMR").needed
        assert needed == pytest.approx((0.78 * cos(3) - 0.22 * cos(1) + 0.22 * cos(8)) / 0.78, abs=1e-6)
        assert needed is not None

        def chosen(score: float) -> bool:
            scores = np.array([cos(n) for n in range(1, 21)])
            scores[9] = score
            angles = np.arange(1, 21)
            rows = mmr(scores, lambda row: np.cos(np.radians(angles - angles[row])), 3, 0.78, 1.1).rows
            return 9 in rows

        # ranks are unchanged up to there, so the score alone decides
        assert (chosen(needed - 1e-5), chosen(needed + 1e-5)) == (False, True)

    def test_sessions_stand_before_their_turns(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        add_memory(owner, "org_a", 500, "all of it", at(3.5), granularity="session", session_id="s")
        answer = asked(memory, fan[0], *MEMSENSE)
        assert (answer.verdict, lost(answer)) == (Verdict.SESSIONS, ["session support"])

    def test_budget(self, memory: Memory, fan: list[str]) -> None:
        """“note 1” to “note 9” are two tokens each: seven fit 15."""
        answer = asked(memory, fan[8], Relevance(), TokenBudget(15))
        assert (answer.verdict, lost(answer)) == (Verdict.BUDGET, ["budget"])
        assert answer.sentence == (
            "Lost to the budget from rank 9: it needs 2 tokens, and 1 of 15 are left after the 7 above that fit. "
            "It would need rank 7 or better."
        )

    def test_a_long_one_needs_a_better_rank_than_a_short_one(self, memory: Memory, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        for number in range(1, 10):
            add_memory(owner, "org_a", number, "x" * 20, at(number))  # five tokens
        long = add_memory(owner, "org_a", 10, "y" * 120, at(10))  # thirty
        answer = asked(memory, long, Relevance(), TokenBudget(45))
        assert "it needs 30 tokens, and 0 of 45 are left after the 9 above that fit" in answer.sentence
        assert "rank 4 or better" in answer.sentence  # three of five and one of thirty are 45

    def test_the_block_has_a_budget_though_no_stage_does(self, memory: Memory, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        ids = [add_memory(owner, "org_a", n, f"{n} " + "x" * 398, at(n)) for n in range(1, 8)]  # 100 tokens of 500
        answer = asked(memory, ids[5], Relevance())
        assert (answer.verdict, lost(answer)) == (Verdict.BUDGET, ["block"])
        assert "it needs 100 tokens, and 0 of 500 are left after the 5 above" in answer.sentence
        assert asked(memory, ids[4], Relevance()).verdict is Verdict.THERE

    def test_a_budget_of_nothing(self, memory: Memory, fan: list[str]) -> None:
        assert "0 tokens hold nothing" in asked(memory, fan[0], Relevance(), TokenBudget(0)).sentence


class TestNumbers:
    def test_the_lowest_rank_that_fits(self) -> None:
        assert lowest_rank([5, 5, 5, 5], 30, 45) == 3
        assert lowest_rank([5, 5, 5, 5], 100, 45) == 0
        assert lowest_rank([], 1, 45) == 0
