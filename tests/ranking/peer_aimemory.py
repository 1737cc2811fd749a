"""The aimemory functions of the peers' vectors: their inputs in, our answer in their shape out."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ranking import cross_encoder
from ranking.batched import use_batched_path
from ranking.candidates import Candidates
from ranking.cross_encoder import CrossEncoder, blend
from ranking.floor import above_floor
from ranking.lexical import LexicalScorer, lexical_score
from ranking.pair_scorer import Pair
from ranking.ranking import rank
from ranking.reflection import reflection_factor
from ranking.relevance import Relevance
from ranking.session_recency import SessionMemory, session_recency
from ranking.words import tokenize
from tests.ranking.peer_constants import CONSTANTS
from tests.ranking.peer_rows import Rows, column, in_order


def aimemory_lexical_score(query: str = "", title: str = "", content: str = "") -> Any:
    return lexical_score(query, title, content, case_sensitive=True)


def aimemory_tokenize(text: str = "") -> Any:
    return tokenize(text)


def _factor(config: str | Mapping[str, Any] | None, is_reflection: Sequence[bool], depth: Sequence[int]) -> Any:
    knobs: Mapping[str, float] = {"boost": 1.0, "per_depth_increment": 0.0, "max_depth_cap": 0}
    if config is not None and config != "disabled":
        defaults = {"boost": 1.2, "per_depth_increment": 0.05, "max_depth_cap": 3}
        given = config if isinstance(config, Mapping) else {}
        knobs = defaults | {name: value for name, value in given.items() if value is not None}
    flags, depths = np.array(is_reflection, dtype=np.bool_), np.array(depth, dtype=np.int64)
    return reflection_factor(
        flags, depths, knobs["boost"], knobs["per_depth_increment"], int(knobs["max_depth_cap"])
    )  # fmt: skip


def aimemory_reflection_factor(
    config: str | Mapping[str, Any] | None = "default", kind: str = "observation", depth: int = 0
) -> Any:
    return float(_factor(config, [kind == "reflection"], [depth])[0])


def aimemory_rerank(
    query: str = "", candidates: Rows = (), reflection_boost: str | Mapping[str, Any] = "disabled"
) -> Any:
    head, tail = candidates[: cross_encoder.POOL], candidates[cross_encoder.POOL :]
    scorer = LexicalScorer(case_sensitive=True)
    pairs = scorer.score([Pair(query, row.get("title") or "", row.get("content") or "") for row in head]).scores
    factor = _factor(
        reflection_boost, [bool(row.get("reflection")) for row in head], [row.get("depth") or 0 for row in head]
    )
    scored = in_order([row.get("id") for row in head], blend(column(head, "score", 0.0), pairs) * factor)
    return [*scored, *([row.get("id"), row.get("score") or 0.0] for row in tail)]


def aimemory_score_floor(mode: str = "off", rows: Sequence[Sequence[Any]] = (), value: float = 0.0) -> Any:
    name = {"relative": "relative_to_top", "": "off"}.get(mode, mode)
    keep = above_floor(np.array([score or 0.0 for _, score in rows], dtype=np.float64), name, value, top=0)
    return [label for (label, _), kept in zip(rows, keep, strict=True) if kept]


def aimemory_session_recency_scenario(steps: Rows = ()) -> Any:
    memory = SessionMemory()
    outputs = []
    for step in steps:
        session, results = step.get("session"), step.get("results") or ()
        ids = np.array([label for label, _ in results], dtype=np.object_)
        scores = np.array([score or 0.0 for _, score in results], dtype=np.float64)
        lifted = session_recency(scores, memory.shown_before(session, ids))
        # without a session nothing is touched, not even the order
        ranked = in_order(ids.tolist(), lifted) if session else [list(result) for result in results]
        memory.record(session, [label for label, _ in ranked], now=0.0)
        outputs.append(ranked)
    sessions = dict.fromkeys(step["session"] for step in steps if step.get("session"))
    recent = {session: list(memory.recent(session)) for session in sessions}
    return {"outputs": outputs, "recent": recent, "session_count": len(memory)}


def aimemory_constant(name: str) -> Any:
    return CONSTANTS[name]


def aimemory_use_batched_rerank_path(is_neural: bool = False, in_flight: int = 0) -> Any:  # noqa: FBT001, FBT002
    return use_batched_path(neural=is_neural, in_flight=in_flight)


def aimemory_rerank_count(candidates: int = 0, pool_max: int = 20) -> Any:
    scores = np.linspace(1, 0, candidates)
    found = Candidates(range(candidates), relevance=scores, pair_score=scores)
    return len(rank(found, (Relevance(), CrossEncoder(max(pool_max, 0)))).order())
