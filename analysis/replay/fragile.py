"""Retrievals whose block hangs by a thread: how small a change of one weight would put another row into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from queries.replay.logged import id_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.replay.replaying import Replayed

EPSILON = 0.01  # of a weight; the mildest verdict on a session, an acceptance at 0.9, moves one by as much
LISTED = 20

Whole = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fragile:
    """The nearest flip of one retrieval: ``lower``, outside the block, would stand above ``upper``, the last inside."""

    retrieval: str
    upper: str
    lower: str
    change: float


@dataclass(frozen=True)
class Fragility:
    """How many of the retrievals with a cut are nearer to a flip than ε, and the nearest of them."""

    epsilon: float
    measured: int
    fragile: int
    nearest: tuple[Fragile, ...]


def fragility(groups: Sequence[Replayed], names: Sequence[str]) -> Fragility | None:
    """Flip distances in closed form, as ``ranking.flip_distance`` finds them; None where no order is by weight.

    A score is base times weight, so that a row comes level with another by ``(its score - the other's) / base``.
    Only rows beside the cut matter: the first outside for each inside, the last inside for each outside. Where rows
    are chosen for their difference the order is no longer by score, and no such distance is told.
    """
    found: list[Fragile] = []
    measured = fragile = 0
    by_weight = False
    for each in groups:
        if each.diversified or not each.on.any():
            continue
        by_weight = True
        rows, upper, lower, change = distances(each)
        measured += len(rows)
        near = np.flatnonzero(change < EPSILON)
        fragile += len(near)
        for place in near[np.argsort(change[near], kind="stable")][:LISTED].tolist():
            row = int(rows[place])
            one, other = (id_text(bytes(each.group.id[row, side[place]])) for side in (upper, lower))
            found.append(Fragile(names[int(each.group.retrieval[row])], one, other, float(change[place])))
    listed = sorted(found, key=lambda one: (one.change, one.retrieval))[:LISTED]
    return Fragility(EPSILON, measured, fragile, tuple(listed)) if by_weight else None


def distances(found: Replayed) -> tuple[Whole, Whole, Whole, Scores]:
    """Rows with a cut among weighted retrievals, the pair nearest to a flip in each, and by how much a weight."""
    size, block = found.group.candidates, found.order.block
    rows = np.flatnonzero(found.on & (block > 0) & (block < size))
    order, cut = found.order.order[rows], block[rows]
    scores, base = (np.take_along_axis(each[rows], order, axis=1) for each in (found.order.scores, found.base))
    every = np.arange(len(rows))
    last_in, first_out = scores[every, cut - 1], scores[every, cut]
    inside = np.arange(size) < cut[:, None]
    gap = np.where(inside, scores - first_out[:, None], last_in[:, None] - scores)
    change = np.where(base > 0, gap / np.where(base > 0, base, 1.0), np.inf)
    nearest = change.argmin(axis=1)
    upper = np.where(nearest < cut, nearest, cut - 1)
    lower = np.where(nearest < cut, cut, nearest)
    return rows, order[every, upper], order[every, lower], change[every, nearest]
