"""A pipeline with its best 50 and their explanation, against one stable sort of the same scores."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pyarrow as pa

from benchmarks._timing import best_of
from ranking import (
    Candidates,
    Corroboration,
    Feedback,
    LexicalScorer,
    Pair,
    Relevance,
    TokenBudget,
    explain,
    rank,
)

PIPELINE = (Relevance(), Corroboration(), Feedback(), TokenBudget(2000))
SHOWN = 50
TEXT = "agent memory retries the queue before a deploy unless its lock is held by another worker"
WORDS = np.array(TEXT.split())
LARGE = 1_000_000
PAIRS = 20


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
    )


def answer(found: Candidates) -> int:
    """Rank, take the best 50, explain them: what a page does when a slider moves."""
    ranking = rank(found, PIPELINE)
    return len(ranking.best(SHOWN)) + len(explain(ranking, SHOWN).rows)


def lexical_ms() -> float:
    """Milliseconds the lexical scorer takes for 20 pairs of about 25 words."""
    texts = candidates(PAIRS).texts("content").to_pylist()
    pairs = [Pair("why does the queue hold its lock before a deploy", text[:40], text) for text in texts]
    return best_of(20, lambda: LexicalScorer().score(pairs)) * 1e3


def run(quick: bool) -> Mapping[str, object]:  # noqa: FBT001 - the contract of python -m benchmarks
    """Ratios at three sizes; 5 is the limit at a million."""
    rows = []
    for size in (10_000, 100_000) if quick else (10_000, 100_000, LARGE):
        found = candidates(size)
        repeats = 3 if size == LARGE else 10
        scores = rank(found, PIPELINE[:-1]).scores
        sort = best_of(repeats, partial(np.argsort, scores, kind="stable"))
        stages = best_of(repeats, partial(rank, found, PIPELINE))
        ours = best_of(repeats, partial(answer, found))
        rows.append(
            {
                "candidates": size,
                "stable argsort ms": sort * 1e3,
                "pipeline ms": stages * 1e3,
                "with best 50 and explanation ms": ours * 1e3,
                "ratio": ours / sort,
            }
        )
    return {"rows": rows, "ratio": rows[-1]["ratio"], "limit": 5.0, "lexical 20 pairs ms": lexical_ms()}
