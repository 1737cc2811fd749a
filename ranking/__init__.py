"""Rank agent memory: candidates in, a pipeline of stages over them, a ranking that can explain itself out."""

from ranking.anchors import AnchorExtractor, RegexAnchorExtractor, TimeAnchor
from ranking.batched import BatchedReranker, use_batched_path
from ranking.budget import Block, TokenBudget, block, context_budget, estimate_tokens
from ranking.candidates import Candidates, MissingEvidence
from ranking.clusters import Clusters, CountBy, Method
from ranking.comparison import (
    InjectionFlips,
    injection_flips,
    is_complete,
    jaccard_at,
    kendall_tau_b,
    mean_absolute_delta,
    overlap_at,
    rank_biased_overlap,
    rank_delta,
)
from ranking.composite import Composite, composite_scores, recency
from ranking.contradictions import (
    DEFAULT_PAIRS,
    Contradiction,
    Evidence,
    Kind,
    Severity,
    Verdict,
    classify,
    contradicts,
    detect_contradictions,
)
from ranking.corroboration import Corroboration, corroboration_boost, rank_with_corroboration, with_corroboration
from ranking.cross_encoder import CrossEncoder, blend, pool_before_pairs, with_pair_scores
from ranking.dedup import Dedup, dedup, normalize_content
from ranking.explanation import Explanation, RowExplanation, StageEffect, explain
from ranking.fallback import FallbackScorer
from ranking.feedback import (
    Feedback,
    FeedbackRanking,
    Normalise,
    Outcome,
    apply_feedback_ranking,
    is_misleading,
    update_weight,
    weight_dominance,
)
from ranking.flips import Flip, Flips, Knob, flip_distance, flips_between
from ranking.floor import Floor, FloorMode, above_floor
from ranking.fusion import (
    ReciprocalRankFusion,
    ScoreFusion,
    candidates_from_legs,
    fuse_scores,
    leg_pool,
    reciprocal_rank_fusion,
    two_leg_weights,
)
from ranking.growth import corroborating_at
from ranking.judged import Judged, judge
from ranking.lexical import LexicalScorer, lexical_score
from ranking.linkage import Linkage, cosine_linkage, hash_linkage
from ranking.memory_score import MemoryScore, final_score, memory_scores
from ranking.memsense_explanation import memsense_explain
from ranking.mmr import Mmr, Selection, candidate_pool, mmr, route_pool
from ranking.near_duplicates import cluster_near_duplicates
from ranking.near_pairs import near_components, near_pairs
from ranking.neighbours import Neighbours, neighbours
from ranking.order import stable_order, top_k
from ranking.pair_scorer import Pair, PairScorer, PairScores, ScorerUsed, max_sequence, set_max_sequence
from ranking.pipeline_text import STAGES, PipelineError, from_text, to_text
from ranking.presets import AI_MEMORY, FULL, INTENDED, LIVE, MEMINI, MEMSENSE, PRESETS
from ranking.ranking import Ranking, Stage, Step, rank
from ranking.redundancy import embedding_matrix, redundancy_with
from ranking.reflection import Reflection, reflection_factor
from ranking.relevance import Head, Relevance
from ranking.session_recency import SessionMemory, SessionRecency, session_recency
from ranking.session_support import Granularity, SessionSupport, session_evidence, sessions_to_fetch, turn_support
from ranking.simhash import fingerprints, hamming, simhash64
from ranking.temporal import Temporal, TemporalMode, rerank_temporal, temporal_proximity
from ranking.why import why_above, why_not_returned
from ranking.word_anchors import WordAnchorExtractor

__all__ = [
    "AI_MEMORY",
    "DEFAULT_PAIRS",
    "FULL",
    "INTENDED",
    "LIVE",
    "MEMINI",
    "MEMSENSE",
    "PRESETS",
    "STAGES",
    "AnchorExtractor",
    "BatchedReranker",
    "Block",
    "Candidates",
    "Clusters",
    "Composite",
    "Contradiction",
    "Corroboration",
    "CountBy",
    "CrossEncoder",
    "Dedup",
    "Evidence",
    "Explanation",
    "FallbackScorer",
    "Feedback",
    "FeedbackRanking",
    "Flip",
    "Flips",
    "Floor",
    "FloorMode",
    "Granularity",
    "Head",
    "InjectionFlips",
    "Judged",
    "Kind",
    "Knob",
    "LexicalScorer",
    "Linkage",
    "MemoryScore",
    "Method",
    "MissingEvidence",
    "Mmr",
    "Neighbours",
    "Normalise",
    "Outcome",
    "Pair",
    "PairScorer",
    "PairScores",
    "PipelineError",
    "Ranking",
    "ReciprocalRankFusion",
    "Reflection",
    "RegexAnchorExtractor",
    "Relevance",
    "RowExplanation",
    "ScoreFusion",
    "ScorerUsed",
    "Selection",
    "SessionMemory",
    "SessionRecency",
    "SessionSupport",
    "Severity",
    "Stage",
    "StageEffect",
    "Step",
    "Temporal",
    "TemporalMode",
    "TimeAnchor",
    "TokenBudget",
    "Verdict",
    "WordAnchorExtractor",
    "above_floor",
    "apply_feedback_ranking",
    "blend",
    "block",
    "candidate_pool",
    "candidates_from_legs",
    "classify",
    "cluster_near_duplicates",
    "composite_scores",
    "context_budget",
    "contradicts",
    "corroborating_at",
    "corroboration_boost",
    "cosine_linkage",
    "dedup",
    "detect_contradictions",
    "embedding_matrix",
    "estimate_tokens",
    "explain",
    "final_score",
    "fingerprints",
    "flip_distance",
    "flips_between",
    "from_text",
    "fuse_scores",
    "hamming",
    "hash_linkage",
    "injection_flips",
    "is_complete",
    "is_misleading",
    "jaccard_at",
    "judge",
    "kendall_tau_b",
    "leg_pool",
    "lexical_score",
    "max_sequence",
    "mean_absolute_delta",
    "memory_scores",
    "memsense_explain",
    "mmr",
    "near_components",
    "near_pairs",
    "neighbours",
    "normalize_content",
    "overlap_at",
    "pool_before_pairs",
    "rank",
    "rank_biased_overlap",
    "rank_delta",
    "rank_with_corroboration",
    "recency",
    "reciprocal_rank_fusion",
    "redundancy_with",
    "reflection_factor",
    "rerank_temporal",
    "route_pool",
    "session_evidence",
    "session_recency",
    "sessions_to_fetch",
    "set_max_sequence",
    "simhash64",
    "stable_order",
    "temporal_proximity",
    "to_text",
    "top_k",
    "turn_support",
    "two_leg_weights",
    "update_weight",
    "use_batched_path",
    "weight_dominance",
    "why_above",
    "why_not_returned",
    "with_corroboration",
    "with_pair_scores",
]
