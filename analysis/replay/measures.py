"""Two orders of many retrievals compared: how far they agree, and what enters and leaves the block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from queries.retrievals import TOP
from ranking.comparison import PERSISTENCE

Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Effects:
    """One entry per retrieval: whether anything moved, whether the top 5 did, agreement, and flips of its block."""

    retrieval: Whole
    changed: Flags
    top_changed: Flags
    rbo: Scores
    tau: Scores
    entered: Whole
    left: Whole

    @classmethod
    def joined(cls, parts: list[Effects]) -> Effects:
        """The effects of all groups, one after the other."""
        kinds = {"retrieval": np.int64, "changed": np.bool_, "top_changed": np.bool_, "rbo": np.float64}
        kinds |= {"tau": np.float64, "entered": np.int64, "left": np.int64}
        return cls(
            **{
                name: np.concatenate([np.empty(0, kind), *(getattr(part, name) for part in parts)])
                for name, kind in kinds.items()
            }
        )


def overlap_of_ranks(before: Whole, after: Whole) -> Scores:
    """``ranking.rank_biased_overlap`` of every row's two permutations, by the depth at which both hold a candidate."""
    count, size = before.shape
    meets = np.maximum(before, after) + np.arange(count)[:, None] * size
    shared = np.bincount(meets.ravel(), minlength=count * size).reshape(count, size).cumsum(axis=1)
    depth = np.arange(1, size + 1)
    p = PERSISTENCE
    found = (1 - p) / p * (shared / depth * p**depth).sum(axis=1) + p**size
    return np.where((before == after).all(axis=1), 1.0, found)  # the sum of their weights is 1 but for rounding


def tau_of_ranks(before: Whole, after: Whole) -> Scores:
    """Kendall's tau of every row's two permutations; ranks have no ties, so tau-b is tau; NaN for a lone candidate."""
    size = before.shape[1]
    if size < 2:  # noqa: PLR2004 - a pair
        return np.full(len(before), np.nan)
    first, second = np.triu_indices(size, 1)
    agree = (before[:, first] < before[:, second]) == (after[:, first] < after[:, second])
    tau: Scores = 2 * agree.mean(axis=1) - 1
    return tau


def top_changed(before: Whole, after: Whole) -> Flags:
    """Whether another set of candidates stands in the first ``TOP`` places."""
    moved: Flags = ((before < TOP) != (after < TOP)).any(axis=1)
    return moved
