"""Choosing 50 of 1 000 candidates of 384 dimensions: one redundancy row per pick against a plain Python loop."""

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from benchmarks._bars import held, under
from benchmarks._timing import best_of
from ranking import mmr, redundancy_with

DIMENSIONS = 384
CHOSEN = 50
LAMBDA, DUPLICATE = 0.78, 0.94
LEAST = 50.0  # times as fast as a plain loop


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """Cosine of two lists, number by number."""
    dot = one = other = 0.0
    for a, b in zip(first, second, strict=True):
        dot += a * b
        one += a * a
        other += b * b
    return min(1.0, max(0.0, dot / (math.sqrt(one) * math.sqrt(other))))


def choose(scores: npt.NDArray[np.float64], vectors: npt.NDArray[np.float32], k: int) -> list[int]:
    """What the library chooses, its preparation of the vectors included."""
    chosen: list[int] = mmr(scores, redundancy_with(vectors, None), k, LAMBDA, DUPLICATE).rows.tolist()
    return chosen


def plain_mmr(scores: Sequence[float], vectors: Sequence[Sequence[float]], k: int) -> list[int]:
    """The rule in plain Python; already kinder than the peer's, for it remembers each row's largest redundancy."""
    chosen, nearest = [0], [0.0] * len(scores)
    while len(chosen) < k:
        last, best, row = vectors[chosen[-1]], -math.inf, -1
        for place, score in enumerate(scores):
            if place in chosen:
                continue
            nearest[place] = max(nearest[place], cosine(vectors[place], last))
            value = LAMBDA * score - (1 - LAMBDA) * nearest[place]
            if nearest[place] < DUPLICATE and value > best:
                best, row = value, place
        chosen.append(row if row >= 0 else next(place for place in range(len(scores)) if place not in chosen))
    return chosen


def run(quick: bool) -> Mapping[str, object]:  # noqa: FBT001 - the contract of python -m benchmarks
    """Seconds of both, and their ratio."""
    rows = []
    for size, k in ((1_000, CHOSEN),) if quick else ((1_000, CHOSEN), (10_000, 10)):
        draw = np.random.default_rng(size)
        vectors = draw.normal(size=(size, DIMENSIONS)).astype(np.float32)
        scores = np.sort(draw.uniform(0.1, 0.4, size))[::-1].copy()
        lists = vectors.astype(np.float64).tolist()
        ours = partial(choose, scores, vectors, k)
        theirs = partial(plain_mmr, scores.tolist(), lists, k)
        fast, slow = best_of(10, ours), best_of(1, theirs)
        rows.append(
            {
                "candidates": size,
                "chosen": k,
                "ours ms": fast * 1e3,
                "plain loop ms": slow * 1e3,
                "ratio": slow / fast,
                "same rows": ours() == theirs(),
            }
        )
    ratio = float(str(rows[0]["ratio"]))
    return {"rows": rows, "ratio": ratio, "least": LEAST, **held(under({"ratio": ratio}, {"ratio": LEAST}))}
