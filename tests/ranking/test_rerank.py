import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking import (
    AI_MEMORY,
    Candidates,
    CrossEncoder,
    Floor,
    FloorMode,
    LexicalScorer,
    MissingEvidence,
    Reflection,
    Relevance,
    SessionMemory,
    SessionRecency,
    above_floor,
    lexical_score,
    pool_before_pairs,
    rank,
    reflection_factor,
    session_recency,
    with_pair_scores,
)
from tests.ranking import strategies


class TestCrossEncoder:
    def test_blend_in_the_pool_and_the_tail_below(self) -> None:
        found = Candidates("abc", relevance=[0.9, 0.8, 0.7], pair_score=[0.0, 1.0, np.nan])
        ranking = rank(found, (Relevance(), CrossEncoder(pool=2)))
        assert ranking.ids() == ["b", "a", "c"]
        assert ranking.scores == pytest.approx([0.6 * 0.9, 0.6 * 0.8 + 0.4, 0.7])

    def test_a_pool_row_without_a_pair_score_is_named(self) -> None:
        found = Candidates("ab", relevance=[0.9, 0.8], pair_score=[0.5, np.nan])
        with pytest.raises(MissingEvidence, match="no pair score for 1 of the 2 rows in the pool"):
            rank(found, (Relevance(), CrossEncoder()))

    @given(strategies.candidates(), st.integers(0, 14))
    def test_nothing_is_lost_and_the_tail_keeps_its_order(self, found: Candidates, pool: int) -> None:
        before = rank(found, (Relevance(),)).ids()
        after = rank(found, (Relevance(), CrossEncoder(pool))).ids()
        assert sorted(after) == sorted(before)
        assert after[pool:] == before[pool:]
        assert sorted(after[:pool]) == sorted(before[:pool])

    def test_only_the_pool_is_scored(self) -> None:
        found = Candidates(range(30), query="x", relevance=np.arange(30) / 30, title=["x"] * 30, content=["x y"] * 30)
        assert pool_before_pairs(found, AI_MEMORY).tolist() == list(range(29, 9, -1))
        scored, used = with_pair_scores(found, AI_MEMORY, LexicalScorer())
        assert np.isfinite(scored["pair_score"]).tolist() == [False] * 10 + [True] * 20
        assert used.scores[0] == lexical_score("x", "x", "x y")
        assert pool_before_pairs(found, (Relevance(),)).size == 0


class TestReflection:
    @pytest.mark.parametrize(
        ("depth", "factor"), [(-5, 1.2), (0, 1.2), (1, 1.2 * 1.05), (3, 1.2 * 1.15), (99, 1.2 * 1.15)]
    )
    def test_factor(self, depth: int, factor: float) -> None:
        both = reflection_factor(np.array([True, False]), np.array([depth, depth]))
        assert both == pytest.approx([factor, 1.0])

    def test_switched_off_it_is_one(self) -> None:
        found = Candidates("a", relevance=[0.5], is_reflection=[True], reflection_depth=[2])
        assert rank(found, (Relevance(), Reflection(boost=1.0, per_depth=0.0))).scores.tolist() == [0.5]


class TestFloor:
    @given(strategies.scores, st.sampled_from(list(FloorMode)), st.sampled_from([-1.0, 0.0, 0.3, 0.5, 1.0, 2.0]))
    def test_is_the_plain_rule_and_keeps_the_top(self, scores: np.ndarray, mode: FloorMode, value: float) -> None:
        found = Candidates(range(scores.size), relevance=scores)
        kept = rank(found, (Relevance(), Floor(mode, value))).ids()
        order = rank(found, (Relevance(),)).ids()
        clamped = min(1.0, max(0.0, value))
        top = scores[order[0]] if order else 0.0
        cut = {"off": -math.inf, "absolute": clamped, "relative_to_top": clamped * top}[mode]
        assert kept == [row for place, row in enumerate(order) if place == 0 or scores[row] >= cut]

    def test_a_score_equal_to_the_cut_stays(self) -> None:
        assert above_floor(np.array([0.8, 0.4, 0.39]), "relative_to_top", 0.5).tolist() == [True, True, False]

    def test_nan_and_unknown_modes_raise(self) -> None:
        with pytest.raises(ValueError, match="floor value: expected a number, found nan"):
            Floor(FloorMode.ABSOLUTE, math.nan)
        with pytest.raises(ValueError, match="'low' is not a valid FloorMode"):
            above_floor(np.array([1.0]), "low", 0.5)


class TestSessionRecency:
    def test_adds_to_what_was_shown(self) -> None:
        assert session_recency(np.array([0.5, 0.5]), np.array([True, False])) == pytest.approx([0.55, 0.5])
        found = Candidates("ab", relevance=[0.5, 0.52], shown_before=[True, False])
        assert rank(found, (Relevance(), SessionRecency())).ids() == ["a", "b"]

    @given(st.lists(st.tuples(st.sampled_from("st"), st.lists(st.integers(0, 9), max_size=6)), max_size=8))
    def test_memory_is_a_capped_fifo_in_which_repeats_move_back(self, calls: list[tuple[str, list[int]]]) -> None:
        memory, plain = SessionMemory(cap=4), {"s": list[int](), "t": list[int]()}
        for session, shown in calls:
            before = memory.shown_before(session, np.arange(10).astype(object))
            assert before.tolist() == [row in plain[session] for row in range(10)]
            memory.record(session, shown, now=0)
            for row in shown:
                plain[session] = [*(other for other in plain[session] if other != row), row][-4:]
            assert list(memory.recent(session)) == plain[session]
            assert len(memory.recent(session)) <= 4

    def test_fifty_ids_and_no_session_no_effect(self) -> None:
        memory = SessionMemory()
        memory.record("s", range(60), now=0)
        assert memory.recent("s") == tuple(range(10, 60))
        memory.record("", ["a"], now=0)
        memory.record(None, ["a"], now=0)
        assert len(memory) == 1
        assert memory.recent(None) == ()

    def test_idle_sessions_are_forgotten(self) -> None:
        memory = SessionMemory(idle_seconds=100)
        memory.record("old", ["a"], now=0)
        memory.record("busy", ["a"], now=50)
        memory.record("busy", ["b"], now=120)
        assert memory.recent("old") == ()
        assert memory.recent("busy") == ("a", "b")
        memory.record("new", ["c"], now=219)
        assert len(memory) == 2


def test_the_whole_of_004() -> None:
    """Blend, reflection, floor, session recency, in the document's order."""
    found = Candidates(
        "abc", relevance=[0.5, 0.5, 0.1], pair_score=[0.5, 0.5, 0.0], is_reflection=[False, True, False],
        reflection_depth=[0, 1, 0], shown_before=[True, False, False],
    )  # fmt: skip
    stages = (Relevance(), CrossEncoder(), Reflection(), Floor(FloorMode.RELATIVE_TO_TOP, 0.5), SessionRecency())
    ranking = rank(found, stages)
    assert ranking.ids() == ["b", "a"]
    assert dict(zip(found.ids[ranking.positions], ranking.scores, strict=True)) == pytest.approx(
        {"b": (0.6 * 0.5 + 0.4 * 0.5) * 1.26, "a": 0.5 + 0.05}
    )
