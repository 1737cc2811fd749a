"""Orders of many retrievals at once, by the library's own rules: two-dimensional arrays, a row per retrieval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ranking.mmr import Mmr

Flags = npt.NDArray[np.bool_]
Whole = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Orders:
    """Candidates best first, what each scored (in candidate order), and how many of the best are in the block."""

    order: Whole
    scores: Scores
    block: Whole

    @property
    def ranks(self) -> Whole:
        """The 0-based rank of every candidate."""
        return ranks_of(self.order)

    @property
    def inside(self) -> Flags:
        """Which candidates are in the block."""
        return self.ranks < self.block[:, None]

    def kept(self, keep: Flags) -> Orders:
        """Only some of the retrievals."""
        return Orders(self.order[keep], self.scores[keep], self.block[keep])


def in_order(scores: Scores) -> Whole:
    """Candidates best first, equal scores in candidate order, as ``ranking.stable_order`` for every row."""
    return np.argsort(-scores, axis=1, kind="stable")


def ranks_of(order: Whole) -> Whole:
    """The inverse permutation of every row."""
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(order.shape[1]), order.shape), axis=1)
    return ranks


def block_sizes(tokens: Whole, budget: Whole, held: int | None = None) -> Whole:
    """How many of the best fit, as ``ranking.fitting``: ``tokens`` best first, at most ``held`` of them in question."""
    fit = (tokens[:, :held].cumsum(axis=1) <= budget[:, None]).sum(axis=1)
    least = 1 if tokens[:, :held].shape[1] else 0
    return np.where(budget == 0, 0, np.maximum(fit, least))


def minmax_rows(scores: Scores, held: Flags) -> Scores:
    """``ranking.minmax`` of every row, over the candidates held; without any span every score is 1."""
    low = np.where(held, scores, np.inf).min(axis=1, keepdims=True)
    high = np.where(held, scores, -np.inf).max(axis=1, keepdims=True)
    span = high - low
    return np.where(span > 0, (scores - low) / np.where(span > 0, span, 1.0), 1.0)


def diversified(order: Whole, scores: Scores, redundancy: Scores, held: int, stage: Mmr) -> Whole:
    """The order in which ``ranking.mmr`` would choose from the first ``held`` of every row; the others stay behind.

    ``redundancy`` is of shape (retrievals, candidates, candidates). What is not chosen keeps candidate order below.
    """
    count, size = order.shape
    every = np.arange(count)
    relevance = stage.lam * np.take_along_axis(scores, order, axis=1)
    free = np.broadcast_to(np.arange(size) < held, order.shape).copy()
    nearest = np.zeros((count, size))
    picks = np.zeros((count, min(stage.k, held)), np.int64)
    for step in range(picks.shape[1]):
        row = np.zeros(count, np.int64)
        if step:
            last = order[every, picks[:, step - 1]]
            np.maximum(nearest, np.take_along_axis(redundancy[every, last], order, axis=1), out=nearest)
            gain = np.where(
                free & (nearest < stage.duplicate_threshold), relevance - (1 - stage.lam) * nearest, -np.inf
            )
            row = gain.argmax(axis=1)  # the first of equals: ties keep rank order
            row = np.where(gain[every, row] > -np.inf, row, free.argmax(axis=1))
        free[every, row] = False
        picks[:, step] = row
    return behind(np.take_along_axis(order, picks, axis=1), size)


def behind(head: Whole, size: int) -> Whole:
    """The order that begins with ``head``; the candidates that are not in it follow in candidate order."""
    place = np.full((len(head), size), head.shape[1], np.int64)
    np.put_along_axis(place, head, np.broadcast_to(np.arange(head.shape[1]), head.shape), axis=1)
    return np.argsort(place, axis=1, kind="stable")
