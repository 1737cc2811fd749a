"""Two pipelines with their best 50 and their explanation, each against one stable sort of the same scores.

*plain* only scores and cuts; *tiered* has a cross-encoder in front, whose tail stays below its pool from then on.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from benchmarks._bars import held, over
from benchmarks._timing import best_of
from ranking import (
    Candidates,
    Corroboration,
    CrossEncoder,
    Feedback,
    Floor,
    FloorMode,
    LexicalScorer,
    Pair,
    Reflection,
    Relevance,
    SessionRecency,
    Stage,
    TokenBudget,
    explain,
    rank,
)

PIPELINES: Mapping[str, tuple[Stage, ...]] = {
    "plain": (Relevance(), Corroboration(), Feedback(), TokenBudget(2000)),
    "tiered": (
        Relevance(),
        CrossEncoder(),
        Reflection(),
        Floor(FloorMode.RELATIVE_TO_TOP, 0.5),
        SessionRecency(),
    ),
}
SHOWN = 50
TEXT = "agent memory retries the queue before a deploy unless its lock is held by another worker"
WORDS = np.array(TEXT.split())
LARGE = 1_000_000
PAIRS = 20
LIMIT = 5.0  # times a stable argsort, at a million


def candidates(rows: int) -> Candidates:
    """Random candidates of about 25 words each."""
    draw = np.random.default_rng(rows)
    texts = [" ".join(line) for line in WORDS[draw.integers(0, WORDS.size, (min(rows, 10_000), 25))]]
    content = pa.array(texts, pa.large_string()).take(draw.integers(0, len(texts), rows))
    return Candidates(
        np.arange(rows),
        relevance=draw.uniform(0.5, 0.9, rows),
        weight=draw.uniform(0.3, 1.0, rows),
        corroborating=draw.geometric(0.6, rows) - 1,
        content=content,
        pair_score=draw.uniform(0.0, 1.0, rows),
        is_reflection=draw.random(rows) < 0.1,  # noqa: PLR2004 - one in ten
        reflection_depth=draw.integers(0, 4, rows),
        shown_before=draw.random(rows) < 0.001,  # noqa: PLR2004 - one in a thousand
    )


def answer(found: Candidates, stages: Sequence[Stage]) -> int:
    """Rank, take the best 50, explain them: what a page does when a slider moves."""
    ranking = rank(found, stages)
    return len(ranking.best(SHOWN)) + len(explain(ranking, SHOWN).rows)


def lexical_ms() -> float:
    """Milliseconds the lexical scorer takes for 20 pairs of about 25 words."""
    texts = candidates(PAIRS).texts("content").to_pylist()
    pairs = [Pair("why does the queue hold its lock before a deploy", text[:40], text) for text in texts]
    return best_of(20, lambda: LexicalScorer().score(pairs)) * 1e3


def timed(found: Candidates, name: str, repeats: int) -> Mapping[str, object]:
    """One pipeline over one set of candidates, and one stable sort of their relevance."""
    stages = PIPELINES[name]
    # a cross-encoder leaves its rows nearly sorted and a budget leaves few: sort what comes in
    sort = best_of(repeats, partial(np.argsort, -found["relevance"], kind="stable"))
    pipeline = best_of(repeats, partial(rank, found, stages))
    ranking = rank(found, stages)
    explained = best_of(repeats, lambda: explain(ranking, SHOWN).rows)
    ours = best_of(repeats, partial(answer, found, stages))
    return {
        "pipeline": name,
        "candidates": len(found),
        "stable argsort ms": sort * 1e3,
        "pipeline ms": pipeline * 1e3,
        "explanation of 50 ms": explained * 1e3,
        "with best 50 and explanation ms": ours * 1e3,
        "ratio": ours / sort,
    }


def run(quick: bool) -> Mapping[str, object]:  # noqa: FBT001 - the contract of python -m benchmarks
    """Ratios at three sizes; the limit is about a million."""
    sets = [candidates(size) for size in ((10_000, 100_000) if quick else (10_000, 100_000, LARGE))]
    rows = [timed(found, name, 3 if len(found) == LARGE else 10) for name in PIPELINES for found in sets]
    ratio = {row["pipeline"]: row["ratio"] for row in rows}  # of the largest set, which comes last
    limits = {} if quick else {f"ratio {name}": LIMIT for name in PIPELINES}
    return {
        "rows": rows,
        "ratio": ratio["plain"],
        "ratio tiered": ratio["tiered"],
        "limit": LIMIT,
        **held(over({f"ratio {name}": float(str(found)) for name, found in ratio.items()}, limits)),
        "lexical 20 pairs ms": lexical_ms(),
    }
