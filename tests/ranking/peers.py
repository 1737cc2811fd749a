"""One small function per function name of the peers' vectors: their inputs in, our answer in their shape out."""

import math
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from types import MappingProxyType, NoneType
from typing import Any, get_args

import numpy as np

from ranking import budget
from ranking.anchors import RegexAnchorExtractor
from ranking.candidates import Candidates
from ranking.composite import composite_scores, recency
from ranking.contradictions import classify, contradicts
from ranking.corroboration import corroboration_boost
from ranking.dedup import dedup, normalize_content
from ranking.feedback import apply_feedback_ranking, update_weight
from ranking.fusion import fuse_scores, leg_pool, reciprocal_rank_fusion
from ranking.memory_score import MemoryScore, memory_scores, number
from ranking.memsense_explanation import memsense_explain
from ranking.mmr import DEFAULT_K, Mmr, candidate_pool, route_pool
from ranking.order import stable_order
from ranking.ranking import rank
from ranking.redundancy import embedding_matrix
from ranking.relevance import Relevance
from ranking.session_support import turn_support
from ranking.simhash import hamming, simhash64
from ranking.temporal import rerank_temporal, temporal_proximity
from ranking.tokens import tokenize as simhash_tokens
from tests.ranking import peer_aimemory
from tests.ranking.peer_rows import Rows, column, in_order


def rensei_simhash(text: str = "") -> Any:
    return {"hex": f"{int(simhash64([text])[0]):016x}", "tokens": simhash_tokens(text)}


def rensei_hamming(a: str = "", b: str = "") -> Any:
    return int(hamming(np.uint64(int(a or "0", 16)), np.uint64(int(b or "0", 16))))


def rensei_simhash_distance(a: str = "", b: str = "") -> Any:
    one, other = simhash64([a, b])
    distance = int(hamming(one, other))
    return {"distance": distance, "near_duplicate_at_3": distance <= 3}


def rensei_corroboration_boost(corroboration_score: float = 0) -> Any:
    return float(corroboration_boost(np.array([corroboration_score], dtype=np.float64))[0])


def rensei_ema_update(previous_weight: float = 1.0, outcome: str = "", misleading: bool = False) -> Any:  # noqa: FBT001, FBT002
    # a session without an outcome teaches nothing
    return update_weight(previous_weight, outcome, misleading=misleading) if outcome else previous_weight


def rensei_context_budget(work_type: str | None = None) -> Any:
    return budget.context_budget(work_type)


def rensei_estimate_tokens(text: str = "") -> Any:
    return int(budget.estimate_tokens([text])[0])


def rensei_apply_feedback_ranking(candidates: Rows = (), weightingEnabled: bool = True) -> Any:  # noqa: FBT001, FBT002, N803
    found = Candidates(
        [row.get("id") for row in candidates],
        relevance=column(candidates, "relevanceScore", 0.0),
        weight=column(candidates, "feedbackWeight", 1.0),
    )
    ranked = apply_feedback_ranking(found, weighting_enabled=weightingEnabled)
    return [
        {
            **candidates[row],
            "weightedScore": float(ranked.weighted_score[row]),
            "unweightedRank": int(ranked.unweighted_rank[row]),
            "weightedRank": int(ranked.weighted_rank[row]),
        }
        for row in ranked.order
    ]


def contradiction_classify(old: str = "", new: str = "") -> Any:
    return classify(old, new).value


def contradiction_is_contradiction(a: str = "", b: str = "") -> Any:
    return contradicts(a, b)


def memini_regex_anchor(query: str = "") -> Any:
    anchor = RegexAnchorExtractor().anchor(query)
    return None if anchor is None else {"days": anchor.days, "tolerance": anchor.tolerance}


def memini_fuse(lists: Sequence[Any] = (), k: int = 0, rrf_k: float = 0.0) -> Any:
    return reciprocal_rank_fusion([[label for label, _ in leg or ()] for leg in lists], k=rrf_k, first_rank=0, top=k)


def memini_fuse_scores(lists: Sequence[Any] = (), weights: Sequence[float | None] = (), k: int = 0) -> Any:
    legs = [[(label, score or 0.0) for label, score in leg or ()] for leg in lists]
    return fuse_scores(legs, [1.0 if weight is None else weight for weight in weights], top=k)


def memini_recency(age_hours: float | None = None) -> Any:
    return float(recency(np.array([age_hours], dtype=np.float64))[0])


def _composite(rows: Rows, weights: Mapping[str, float] | None) -> Any:
    chosen = weights or {"relevance": 0.80, "recency": 0.05, "importance": 0.15}
    shares = (chosen.get("relevance") or 0.0, chosen.get("recency") or 0.0, chosen.get("importance") or 0.0)
    return composite_scores(
        column(rows, "score", 0.0), column(rows, "age_hours"), column(rows, "importance", 0.0), shares
    )  # fmt: skip


def memini_rerank_with(rows: Rows = (), weights: Mapping[str, float] | None = None) -> Any:
    return in_order([row.get("id") for row in rows], _composite(rows, weights))


def memini_rerank_temporal(
    rows: Rows = (),
    query: str = "",
    weights: Mapping[str, float] | None = None,
    boost: float = 0.4,
    mode: str = "additive",
) -> Any:
    base = _composite(rows, weights)
    order = stable_order(base)  # the Go package hands the boost a sorted list, so ties keep the composite's order
    ages = column(rows, "created_age_days")[order]
    lifted = rerank_temporal(base[order], ages, RegexAnchorExtractor().anchor(query), boost, mode)
    return in_order([rows[row].get("id") for row in order], lifted)


def memini_temporal_proximity(
    date_days_ago: float | None = None, target_days_ago: float = 0, tolerance: float = 0
) -> Any:
    return float(temporal_proximity(np.array([date_days_ago], dtype=np.float64), target_days_ago, tolerance)[0])


def memini_dedup(rows: Sequence[Sequence[Any]] = (), limit: int = 0) -> Any:
    keep = dedup([content or "" for _, content in rows], limit)
    return [label for (label, _), kept in zip(rows, keep, strict=True) if kept]


def memini_normalize_content(text: str = "") -> Any:
    return normalize_content(text)


def memini_recall_pool_size(k: int = 0) -> Any:
    return leg_pool(k)


def memsense_hybrid_rerank(
    rows: Rows = (), top_k: float | None = DEFAULT_K, options: Mapping[str, Any] | None = None
) -> Any:
    given = {name: value for name, value in (options or {}).items() if value is not None}
    # null is the number 0 to Memsense, and 0 chooses nothing
    wanted = max(int(np.nan_to_num(number(top_k), nan=0.0, posinf=len(rows))), 0)
    found = Candidates(
        range(len(rows)),
        relevance=np.nan_to_num(np.array([number(row.get("rrf_score")) for row in rows], dtype=np.float64), nan=0.0),
        memory_score=memory_scores(row.get("score", math.nan) for row in rows),
        embeddings=embedding_matrix([row.get("embedding") for row in rows]),
        tags=[[str(tag) for tag in row["tags"] if tag] if isinstance(row.get("tags"), list) else [] for row in rows],
    )
    choice = Mmr(wanted, given.get("lambda", 0.78), given.get("duplicateThreshold", 0.94))
    ranking = rank(found, (Relevance(), MemoryScore(given.get("alpha", 0.1)), choice))
    return [
        {
            **rows[row],
            "final_score": float(score),
            "rrf_score": parts["rrf_score"],
            "score": parts["memory_score"],
            "explain": parts | ({"routes": rows[row]["routes"]} if "routes" in rows[row] else {}),
        }
        for row, score, parts in zip(ranking.positions, ranking.scores, memsense_explain(ranking), strict=True)
    ]


def memsense_pool_sizes(top_k: int = DEFAULT_K) -> Any:
    return {"candidate_limit": candidate_pool(top_k), "route_limit": route_pool(top_k)}


def memsense_turn_support(session_rrf_score: float = 0.0, best_turn_rrf_score: float = 0.0) -> Any:
    support = float(turn_support(np.array([best_turn_rrf_score], dtype=np.float64))[0])
    return {"turn_support": support, "hybrid_rrf_score": session_rrf_score + support}


def memsense_rrf(routes: Mapping[str, Any] = MappingProxyType({}), k: float = 15) -> Any:
    legs = {name: leg or () for name, leg in routes.items()}
    fused = reciprocal_rank_fusion(list(legs.values()), k=k, first_rank=1)
    return {
        str(label): {"rrf_score": score, "routes": sorted(name for name, leg in legs.items() if label in leg)}
        for label, score in fused
    }


def _nulls_left_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with a null read as left out, unless its signature says what null means."""
    meant = {name for name, taken in signature(function).parameters.items() if NoneType in get_args(taken.annotation)}
    return lambda **inputs: function(
        **{name: value for name, value in inputs.items() if value is not None or name in meant}
    )


SYSTEMS = ("contradiction", "rensei", "memini", "memsense", "aimemory")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name.replace("_", ".", 1): _nulls_left_out(function)
    for name, function in (globals() | vars(peer_aimemory)).items()
    if name.split("_", 1)[0] in SYSTEMS and callable(function)
}
