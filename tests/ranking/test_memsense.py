import numpy as np
import pytest
from hypothesis import given

from ranking import (
    MEMSENSE,
    Candidates,
    MemoryScore,
    Mmr,
    Relevance,
    candidates_from_legs,
    memsense_explain,
    neighbours,
    rank,
)
from tests.ranking import strategies


def test_explain_of_a_session_first_retrieval() -> None:
    legs = {
        "vec_full": [("t1", 0.9), ("s1", 0.8), ("t2", 0.7)],
        "lexical": [("t2", 3.0), ("t1", 2.0)],
        "facet_events": [("s2", 1.0)],
    }
    found = candidates_from_legs(legs).with_columns(
        session=["x", "x", "x", "y"], granularity=["turn", "session", "turn", "session"],
        memory_score=[0.5, 0.9, 0.5, np.nan], embeddings=np.eye(4), tags=[[], [], [], []],
    )  # fmt: skip
    ranking = rank(found, MEMSENSE)
    first, second = memsense_explain(ranking)
    assert ranking.ids() == ["s1", "s2"]
    best_turn = 1 / 16 + 1 / 17
    assert first == {
        "rrf_score": pytest.approx(1 / 17 + 0.6 * best_turn),
        "memory_score": 0.9,
        "alpha": 0.1,
        "routes": ["vec_full"],
        "session_rrf_score": 1 / 17,
        "turn_support": pytest.approx(0.6 * best_turn),
        "supporting_turn_count": 2,
        "best_turn_routes": ["lexical", "vec_full"],
    }
    assert (second["turn_support"], second["supporting_turn_count"], second["best_turn_routes"]) == (0.0, 0, [])
    assert second["diversity"] == {"lambda": 0.78, "duplicate_threshold": 0.94, "selected_rank": 1}


def test_without_sessions_explain_names_none() -> None:
    found = Candidates(
        "ab", relevance=[0.2, 0.1], session=["x", "x"], granularity=["turn", "observation"], memory_score=[0.5, 0.5],
        tags=[["a"], ["a"]],
    )  # fmt: skip
    assert "turn_support" not in memsense_explain(rank(found, (Relevance(), *MEMSENSE[1:])))[0]


@given(strategies.candidates())
def test_diversity_stands_beside_what_the_rule_chose(found: Candidates) -> None:
    ranking = rank(found, (Relevance(), MemoryScore(), Mmr(k=6)))
    explained = memsense_explain(ranking)
    assert len(explained) == min(6, len(found))
    for place, parts in enumerate(explained):
        assert parts.get("diversity", {"selected_rank": place})["selected_rank"] == place
        assert "diversity" not in parts or place > 0


@given(strategies.candidates())
def test_neighbours_are_the_nearest_in_time_of_the_same_session_and_source(found: Candidates) -> None:
    found = found.with_columns(source=["chat", "mail", None] * 4 if len(found) == 12 else ["chat"] * len(found))
    sessions, sources = found.texts("session").to_pylist(), found.texts("source").to_pylist()
    times = found["created_at"]
    got = neighbours(found)
    for row in range(len(found)):
        line = sorted(
            (
                other
                for other in range(len(found))
                if sessions[other] == sessions[row] and sources[other] == sources[row]
            ),
            key=lambda other: (times[other], other),
        )
        place = line.index(row)
        before = line[place - 1] if sessions[row] and place > 0 else -1
        after = line[place + 1] if sessions[row] and place + 1 < len(line) else -1
        assert (got.before[row], got.after[row]) == (before, after)


def test_a_row_without_a_time_has_no_neighbours() -> None:
    times = [np.datetime64("2026-01-01"), None, np.datetime64("2026-01-02")]
    found = Candidates("abc", session=["x"] * 3, source=["s"] * 3, created_at=np.array(times, dtype="datetime64[us]"))
    assert neighbours(found).after.tolist() == [2, -1, -1]
