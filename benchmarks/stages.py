"""What each stage costs by itself, at ten thousand rows and at a million."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from benchmarks._timing import best_of
from benchmarks.ranking import candidates
from ranking import (
    Candidates,
    Composite,
    Corroboration,
    CrossEncoder,
    Dedup,
    Feedback,
    Floor,
    FloorMode,
    Head,
    MemoryScore,
    Mmr,
    ReciprocalRankFusion,
    Reflection,
    Relevance,
    ScoreFusion,
    SessionRecency,
    SessionSupport,
    Stage,
    Temporal,
    TokenBudget,
    rank,
)

LEGS = 8
DIMENSIONS = 32
NOW = np.datetime64("2026-06-15T12:00")
STAGES: tuple[Stage, ...] = (
    Relevance(), Head(), Corroboration(), Feedback(), ReciprocalRankFusion(), ScoreFusion(), MemoryScore(), Composite(),
    Temporal(), CrossEncoder(), Reflection(), Floor(FloorMode.RELATIVE_TO_TOP, 0.8), SessionRecency(), SessionSupport(),
    Dedup(), Mmr(20), TokenBudget(),
)  # fmt: skip


def full(rows: int) -> Candidates:
    """Random candidates that carry every column a stage reads."""
    draw = np.random.default_rng(rows)
    places = draw.permuted(np.tile(np.arange(rows), (LEGS, 1)), axis=1).T
    minutes = draw.integers(0, 500_000, rows).astype("timedelta64[m]")
    plain = candidates(rows)
    return Candidates(
        plain.ids,
        query="what changed 3 weeks ago",
        now=NOW,
        relevance=plain["relevance"],
        weight=plain["weight"],
        corroborating=plain["corroborating"],
        content=plain.texts("content"),
        leg_ranks=np.where(draw.random((rows, LEGS)) < 0.5, places, -1),  # noqa: PLR2004 - a row is in half of the legs
        leg_scores=draw.random((rows, LEGS)),
        memory_score=draw.random(rows),
        importance=draw.random(rows),
        created_at=NOW - minutes,
        last_accessed_at=NOW - minutes,
        pair_score=draw.random(rows),
        is_reflection=draw.integers(0, 2, rows).astype(np.bool_),
        reflection_depth=draw.integers(0, 4, rows),
        shown_before=draw.integers(0, 2, rows).astype(np.bool_),
        session=draw.integers(0, rows // 10, rows).astype(np.str_),
        granularity=np.array(["turn", "session"])[draw.integers(0, 2, rows)],
        embeddings=draw.standard_normal((rows, DIMENSIONS)).astype(np.float32),
    )


def run(quick: bool) -> list[Mapping[str, object]]:  # noqa: FBT001 - the contract of python -m benchmarks
    """Milliseconds of every stage on top of relevance, at each size."""
    rows: list[dict[str, object]] = [{"stage": type(stage).__name__} for stage in STAGES]
    for size in (10_000,) if quick else (10_000, 1_000_000):
        found = rank(full(size), (Relevance(),))
        for row, stage in zip(rows, STAGES, strict=True):
            row[f"{size} rows, ms"] = best_of(3 if size > 100_000 else 10, partial(stage, found)) * 1e3  # noqa: PLR2004
    return list(rows)
