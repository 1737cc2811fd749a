import numpy as np
import pytest
from hypothesis import given

from ranking import (
    Candidates,
    ReciprocalRankFusion,
    Relevance,
    SessionSupport,
    rank,
    sessions_to_fetch,
    turn_support,
)
from ranking.session_support import session_evidence
from tests.ranking import strategies

FOUND = Candidates(
    ["s1", "s2", "t1", "t2", "t3", "plain", "lost"],
    relevance=[0.20, 0.0, 0.05, 0.10, 0.40, 0.9, 0.8],
    session=["x", "y", "x", "x", "y", "x", None],
    granularity=["session", "session", "turn", "turn", "turn", "observation", "turn"],
)


def test_support_is_bounded() -> None:
    assert turn_support(np.array([0.0, 0.05, 0.2, 0.3])) == pytest.approx([0.0, 0.6 * 0.05, 0.12, 0.12])


def test_sessions_first() -> None:
    """Sessions known only through their turns enter with 0; turns and other rows never do."""
    ranking = rank(FOUND, (Relevance(), SessionSupport()))
    assert ranking.ids() == ["s1", "s2"]
    assert ranking.scores == pytest.approx([0.20 + 0.6 * 0.10, 0.0 + 0.12])


def test_sessions_known_only_through_their_turns_are_named_for_the_caller_to_fetch() -> None:
    found = Candidates(
        range(6),
        leg_ranks=[[0], [1], [2], [3], [4], [5]],
        legs=["lexical"],
        session=["z", "x", "x", "y", None, "w"],
        granularity=["turn", "session", "turn", "turn", "turn", "observation"],
    )
    assert sessions_to_fetch(found) == ("z", "y")
    assert sessions_to_fetch(found.take([])) == ()


def test_a_fetched_session_enters_with_rrf_0_and_its_turns_support() -> None:
    """Neither leg returned the session row itself: its ranks are -1."""
    found = Candidates(
        ["session x", "turn of y", "session y"],
        leg_ranks=[[0], [1], [-1]],
        legs=["lexical"],
        session=["x", "y", "y"],
        granularity=["session", "turn", "session"],
    )
    ranking = rank(found, (ReciprocalRankFusion(k=15, first_rank=1), SessionSupport()))
    assert ranking.ids() == ["session x", "session y"]
    assert ranking.scores == pytest.approx([1 / 16, 0.0 + 0.6 * 1 / 17])
    assert sessions_to_fetch(found) == ()


def test_evidence_names_the_best_turn_and_how_many() -> None:
    found = session_evidence(FOUND["relevance"], FOUND.texts("session"), FOUND.texts("granularity"))
    assert found.supporting_turns[:2].tolist() == [2, 1]
    assert found.best_turn[:2].tolist() == [3, 4]
    assert found.best_turn[6] == -1


def test_without_sessions_nothing_changes() -> None:
    chunks = Candidates("ab", relevance=[0.1, 0.2], session=["x", "x"], granularity=["turn", "observation"])
    assert rank(chunks, (Relevance(), SessionSupport())).ids() == ["b", "a"]


@given(strategies.candidates())
def test_support_is_the_plain_rule(found: Candidates) -> None:
    scores = found["relevance"]
    sessions, kinds = found.texts("session").to_pylist(), found.texts("granularity").to_pylist()
    evidence = session_evidence(scores, found.texts("session"), found.texts("granularity"))
    for row, (session, kind) in enumerate(zip(sessions, kinds, strict=True)):
        turns = [
            other for other in range(len(found)) if session and sessions[other] == session and kinds[other] == "turn"
        ]
        best = max((scores[turn] for turn in turns), default=0.0)
        support = min(0.12, 0.6 * best) if kind == "session" and session else 0.0
        assert evidence.support[row] == pytest.approx(support)
        if kind == "session" and session:
            assert evidence.supporting_turns[row] == len(turns)
            first = next((turn for turn in turns if best > 0 and scores[turn] == best), -1)
            assert evidence.best_turn[row] == first
