from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranking.limits import whole

Judgements = Mapping[Any, float]


@dataclass(frozen=True)
class Judged:
    """Quality of one ranking by labels, and how much of it the labels cover: a figure over two of ten rows says little.

    None where a measure is undefined: nothing judged relevant, or nothing returned.
    """

    ndcg: float | None
    mrr: float | None
    recall: float | None
    precision: float | None
    coverage: float | None


def judge(ranking: Sequence[Hashable], judgements: Judgements, k: int) -> Judged:
    """nDCG, reciprocal rank, recall and precision of the best ``k`` rows, with judged coverage beside them.

    Gains are ``2^grade - 1`` (grade 0 is irrelevant); a row without a judgement counts as irrelevant, which is why
    coverage is reported.
    """
    whole("k", k, 1)
    if len(set(ranking)) != len(ranking):
        raise ValueError("ranking: expected every id once, found one twice")
    if any(not np.isfinite(grade) or grade < 0 for grade in judgements.values()):
        raise ValueError("judgements: expected finite grades of 0 or more")
    head = list(ranking[:k])
    grades = np.array([judgements.get(label, 0.0) for label in head], dtype=np.float64)
    relevant = sum(grade > 0 for grade in judgements.values())
    hits = int((grades > 0).sum())
    return Judged(
        ndcg=_ndcg(grades, sorted(judgements.values(), reverse=True)[:k]),
        mrr=_reciprocal_rank(grades) if relevant else None,
        recall=hits / relevant if relevant else None,
        precision=hits / k if head else None,
        coverage=sum(label in judgements for label in head) / len(head) if head else None,
    )


def _ndcg(grades: np.ndarray[tuple[int], np.dtype[np.float64]], ideal: Sequence[float]) -> float | None:
    best = _gain(np.array(ideal, dtype=np.float64))
    return _gain(grades) / best if best > 0 else None


def _gain(grades: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """``Σ (2^grade - 1) / log2(rank + 2)`` with ranks from 0."""
    return float(((2.0**grades - 1.0) / np.log2(np.arange(grades.size) + 2.0)).sum())


def _reciprocal_rank(grades: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """``1 / (rank + 1)`` of the first relevant row, 0 if there is none."""
    hits = np.flatnonzero(grades > 0)
    return 1.0 / (int(hits[0]) + 1) if hits.size else 0.0
