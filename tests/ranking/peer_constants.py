"""The constants 004 names, each by the place where the library keeps it."""

from ranking import batched, cross_encoder, pair_scorer, reflection
from ranking.session_recency import BOOST, SESSION_CAP

CONSTANTS = {
    "ORIGINAL_WEIGHT": cross_encoder.ORIGINAL_WEIGHT,
    "CROSS_ENCODER_WEIGHT": 1 - cross_encoder.ORIGINAL_WEIGHT,
    "RERANK_POOL_MAX": cross_encoder.POOL,
    "CROSS_ENCODER_MAX_SEQ": pair_scorer.MAX_SEQUENCE,
    "RERANK_MAX_SEQ_DEFAULT": pair_scorer.DEFAULT_SEQUENCE,
    "DEFAULT_MAX_BATCH": batched.MAX_BATCH,
    "DEFAULT_MAX_WAIT_MS": batched.MAX_WAIT_MS,
    "BATCHED_RERANK_MIN_CONCURRENCY": batched.MIN_IN_FLIGHT,
    "DEFAULT_REFLECTION_BOOST": reflection.BOOST,
    "DEFAULT_REFLECTION_PER_DEPTH_INCREMENT": reflection.PER_DEPTH,
    "DEFAULT_REFLECTION_MAX_DEPTH_CAP": reflection.DEPTH_CAP,
    "SESSION_RECENCY_BOOST": BOOST,
    "SESSION_RECENT_CAP": SESSION_CAP,
}
