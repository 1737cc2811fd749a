from dataclasses import dataclass
from typing import Any

import numpy as np

from ranking.candidates import Positions
from ranking.memory_score import MemoryScore, clamped_memory_score
from ranking.mmr import Mmr
from ranking.ranking import Ranking, Step
from ranking.redundancy import redundancy_with
from ranking.session_support import SessionSupport, session_evidence


@dataclass(frozen=True)
class _Trail:
    """The steps of a Memsense pipeline: the last before the memory score, and those of the stages it names."""

    fused: Step | None
    memory: Step | None
    before_sessions: Step | None
    sessions: Step | None
    chosen: Step | None

    @classmethod
    def of(cls, ranking: Ranking) -> "_Trail":
        found: dict[type, tuple[Step | None, Step]] = {}
        before: Step | None = None
        for step in ranking.steps:
            found[type(step.stage)] = (before, step)
            before = step
        fused, memory = found.get(MemoryScore, (before, None))
        earlier, sessions = found.get(SessionSupport, (None, None))
        return cls(fused, memory, earlier, sessions, found.get(Mmr, (None, None))[1])


def memsense_explain(ranking: Ranking) -> list[dict[str, Any]]:
    """Memsense's own ``explain`` of the rows returned, best first, read off the trail (002).

    ``diversity`` stands only beside rows the MMR rule chose: not the first, not a duplicate taken for want of others.
    """
    rows = ranking.order()
    trail = _Trail.of(ranking)
    explained = [_score_parts(ranking, trail, row) for row in rows.tolist()]
    if trail.before_sessions is not None and trail.sessions is not None:
        more = _session_parts(ranking, trail.before_sessions, trail.sessions.stage, rows)
        explained = [parts | extra for parts, extra in zip(explained, more, strict=True)]
    if trail.chosen is not None and isinstance(trail.chosen.stage, Mmr):
        stage = trail.chosen.stage
        for place in np.flatnonzero(_chosen_by_rule(ranking, rows, stage)).tolist():
            explained[place]["diversity"] = {
                "lambda": stage.lam,
                "duplicate_threshold": stage.duplicate_threshold,
                "selected_rank": place,
            }
    return explained


def _score_parts(ranking: Ranking, trail: _Trail, row: int) -> dict[str, Any]:
    candidates = ranking.candidates
    parts: dict[str, Any] = {}
    if trail.fused is not None:
        parts["rrf_score"] = float(trail.fused.scores[trail.fused.find(np.array([row]))[0]])
    if trail.memory is not None and isinstance(trail.memory.stage, MemoryScore):
        parts["memory_score"] = float(clamped_memory_score(candidates["memory_score"][[row]])[0])
        parts["alpha"] = trail.memory.stage.alpha
    if candidates.legs:
        parts["routes"] = _routes(ranking, row)
    return parts


def _routes(ranking: Ranking, row: int) -> list[str]:
    legs = ranking.candidates["leg_ranks"][row]
    return sorted(name for name, place in zip(ranking.candidates.legs, legs, strict=True) if place >= 0)


def _session_parts(
    ranking: Ranking,
    before: Step,
    stage: Any,  # noqa: ANN401 - the SessionSupport of the trail
    rows: Positions,
) -> list[dict[str, Any]]:
    texts = ranking.candidates.texts
    session, granularity = texts("session").take(before.positions), texts("granularity").take(before.positions)
    found = session_evidence(before.scores, session, granularity, stage.share, stage.cap)
    if not found.is_session.any():
        return [{} for _ in rows]
    return [
        {
            "session_rrf_score": float(before.scores[place]),
            "turn_support": float(found.support[place]),
            "supporting_turn_count": int(found.supporting_turns[place]),
            "best_turn_routes": _turn_routes(ranking, before, int(found.best_turn[place])),
        }
        for place in before.find(rows).tolist()
    ]


def _turn_routes(ranking: Ranking, before: Step, turn: int) -> list[str]:
    return _routes(ranking, int(before.positions[turn])) if turn >= 0 and ranking.candidates.legs else []


def _chosen_by_rule(ranking: Ranking, rows: Positions, stage: Mmr) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows were below the duplicate threshold when chosen; only the rows returned are compared."""
    candidates = ranking.candidates
    redundancy = redundancy_with(
        candidates["embeddings"][rows] if "embeddings" in candidates else None,
        candidates.texts("tags").take(rows) if "tags" in candidates else None,
    )
    nearest = np.zeros(rows.size)
    ruled = np.zeros(rows.size, dtype=np.bool_)
    for place in range(1, rows.size):
        np.maximum(nearest, redundancy(place - 1), out=nearest)
        ruled[place] = nearest[place] < stage.duplicate_threshold
    return ruled
