"""What the peers' vectors may leave out or give as null, and what then counts."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests import peer_vectors

ROW = {"memory_id": "m", "rrf_score": 0.25, "tags": None, "embedding": None}
CASES: list[tuple[str, dict[str, Any], Any]] = [
    ("aimemory.score_floor", {"mode": "off", "value": None, "rows": [["a", 0.5], ["b", None]]}, ["a", "b"]),
    ("aimemory.score_floor", {"mode": None, "rows": None}, []),
    ("aimemory.rerank", {"query": None, "candidates": [{"id": 1, "title": None, "score": 0.5}]}, [[1, 0.3]]),
    ("aimemory.rerank", {"query": "q", "candidates": [{"id": "a", "reflection": None}, {"id": 2}]}, [["a", 0], [2, 0]]),
    ("aimemory.rerank", {"query": "q", "candidates": None, "reflection_boost": None}, []),
    ("aimemory.lexical_score", {"query": "q", "title": None, "content": None}, 0.0),
    ("aimemory.lexical_score", {"query": "q"}, 0.0),
    ("aimemory.tokenize", {"text": None}, []),
    ("aimemory.reflection_factor", {"config": "default", "kind": "reflection", "depth": None}, 1.2),
    ("aimemory.reflection_factor", {"config": {"boost": 2, "max_depth_cap": None}, "kind": "reflection"}, 2.0),
    ("aimemory.reflection_factor", {"config": None, "kind": "reflection", "depth": 2}, 1.0),
    ("aimemory.rerank_count", {"candidates": 0, "pool_max": None}, 0),
    (
        "aimemory.session_recency_scenario",
        {"steps": [{"session": "s", "results": [["a", 0.5], [2, 0.4]]}, {"session": "s", "results": None},
                   {"session": None, "results": [[2, 0.1], ["a", None]]}, {"session": "s", "results": [[2, 0.5]]}]},
        {"outputs": [[["a", 0.5], [2, 0.4]], [], [[2, 0.1], ["a", None]], [[2, 0.55]]], "recent": {"s": ["a", 2]}},
    ),
    ("memsense.pool_sizes", {"top_k": None}, {"candidate_limit": 32, "route_limit": 64}),
    ("memsense.pool_sizes", {}, {"candidate_limit": 32, "route_limit": 64}),
    ("memsense.turn_support", {"best_turn_rrf_score": 0.1}, {"turn_support": 0.06, "hybrid_rrf_score": 0.06}),
    ("memsense.turn_support", {}, {"turn_support": 0, "hybrid_rrf_score": 0}),
    ("memsense.hybrid_rerank", {"rows": [ROW], "top_k": None, "options": None}, []),
    ("memsense.hybrid_rerank", {"rows": [ROW] * 5}, [{"final_score": 0.3}] * 4),
    ("memsense.hybrid_rerank", {"rows": [ROW], "top_k": 9, "options": {"alpha": None}}, [{"final_score": 0.3}]),
    ("memsense.hybrid_rerank", {"rows": None, "top_k": 3}, []),
    ("memsense.rrf", {"routes": {"x": [1, "1"], "y": None}, "k": None}, {"1": {"routes": ["x"]}}),
    ("memsense.rrf", {"routes": {"x": [7]}, "k": 0}, {"7": {"rrf_score": 1 / 16, "routes": ["x"]}}),
    ("memini.rerank_temporal", {"rows": [{"id": 1, "score": 2}], "query": None, "boost": None}, [[1, 0.8]]),
    ("memini.rerank_with", {"rows": [{"id": "a", "score": None}, {"id": 2, "score": 1}]}, [[2, 0.8], ["a", 0]]),
    ("memini.rerank_with", {"rows": None, "weights": None}, []),
    ("memini.rerank_with", {"rows": [{"score": 3}], "weights": {"relevance": 1, "recency": None}}, [[None, 1]]),
    ("rensei.hamming", {"a": None, "b": "f"}, 4),
    ("aimemory.use_batched_rerank_path", {"is_neural": True, "in_flight": None}, False),
    ("aimemory.rerank_count", {"candidates": 3, "pool_max": -1}, 3),
    ("memini.fuse", {"lists": [[["a", 1], [2, 1]], None], "k": None, "rrf_k": None}, [["a", 0.2], [2, 1 / 6]]),
    ("memini.fuse_scores", {"lists": [[["a", 1], [2, None]], []], "weights": [None, 3]}, [["a", 1], [2, 0]]),
    ("memini.recency", {}, 0.0),
    ("memini.temporal_proximity", {"date_days_ago": None, "target_days_ago": 1, "tolerance": 1}, 0.0),
    ("memini.temporal_proximity", {"date_days_ago": 1, "target_days_ago": 1, "tolerance": None}, 0.0),
    ("memini.dedup", {"rows": [["a", None], [2, ""], ["c", "x"]], "limit": None}, ["a", "c"]),
    ("memini.dedup", {"rows": None}, []),
    ("memini.normalize_content", {"text": None}, ""),
    ("memini.regex_anchor", {"query": None}, None),
    ("rensei.simhash", {"text": None}, {"hex": "0" * 16, "tokens": []}),
    ("rensei.simhash_distance", {"a": None, "b": ""}, {"distance": 0}),
    ("rensei.corroboration_boost", {"corroboration_score": None}, 0.0),
    ("rensei.ema_update", {"previous_weight": None, "outcome": "rework", "misleading": None}, 0.85),
    ("rensei.ema_update", {"previous_weight": 0.5, "outcome": None}, 0.5),
    ("rensei.estimate_tokens", {"text": None}, 0),
    ("rensei.context_budget", {}, 500),
    (
        "rensei.apply_feedback_ranking",
        {"candidates": [{"id": "a", "relevanceScore": None}, {"id": 2, "relevanceScore": 0.5, "feedbackWeight": None}],
         "weightingEnabled": None},
        [{"id": 2, "weightedScore": 0.5, "unweightedRank": 0, "weightedRank": 0}, {"id": "a", "weightedScore": 0}],
    ),
    ("rensei.apply_feedback_ranking", {"candidates": None}, []),
]  # fmt: skip


@pytest.mark.parametrize(("function", "inputs", "expected"), CASES)
def test_what_is_left_out_counts_as_the_rules_say(function: str, inputs: dict[str, Any], expected: object) -> None:
    assert peer_vectors.failure({"function": function, "inputs": inputs, "expected": expected}) is None


def test_a_case_may_leave_out_inputs_and_tolerance() -> None:
    case = {"function": "memsense.pool_sizes", "expected": {"route_limit": 64}, "tolerance": None}
    assert peer_vectors.failure(case) is None
    assert peer_vectors.failure({**case, "inputs": None}) is None


def test_a_case_that_expects_nothing_fails() -> None:
    assert peer_vectors.failure({"function": "memsense.pool_sizes", "inputs": {}}) == "no expected answer given"


def test_without_a_file_it_says_how_it_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    assert peer_vectors.main([]) == 2
    assert "python -m tests.peer_vectors FILE.json" in capsys.readouterr().out


def test_a_case_without_a_function_fails_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cases.json"
    good = {"function": "memini.recall_pool_size", "inputs": {"k": 5}, "expected": 50}
    path.write_text(json.dumps([{"expected": 1}, good]), encoding="utf-8")
    assert peer_vectors.main([str(path)]) == 1
    assert capsys.readouterr().out.splitlines() == ["case 1: unknown function None", "1 passed, 1 failed"]
