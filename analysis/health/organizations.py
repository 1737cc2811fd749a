"""What changed in each of many organizations, held against chance in all of them together.

Of a hundred quiet organizations five differ from the window before by more than their 95 % interval: that a change is
told from chance in one says little where many were looked at.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from analysis.health.change import WHOLE, compare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from analysis.health.change import Compared
    from analysis.health.counts import Shares
    from analysis.intervals import Seen

    Scores = npt.NDArray[np.float64]

FALSE = 0.05  # of the changes that are told in a family, as many may be chance on average
BY_ITSELF = "accepted"  # the measure that is a family of its own
FARTHEST = 40.0  # standard errors: beyond them a chance is nought in double precision
HALVINGS = 50


def compare_each(
    now: Mapping[str, Mapping[str, float]], before: Mapping[str, Mapping[str, float]], shares: Shares = WHOLE
) -> dict[str, tuple[Compared, ...]]:
    """Every measure of every organization; of the changes told from chance, those that also hold among so many.

    Sessions accepted are adjusted by themselves: what else is asked beside them cannot change who is marked, here or
    where they alone are asked for. Everything else together is the other family.
    """
    found = {org: compare(counts, before.get(org, {}), shares) for org, counts in now.items()}
    tested = {
        (org, each.measure.name): each.seen
        for org, compared in found.items()
        for each in compared
        if each.seen is not None
    }
    own = {key: seen for key, seen in tested.items() if key[1] == BY_ITSELF}
    rest = {key: seen for key, seen in tested.items() if key not in own}
    chances = {
        key: chance
        for family in (own, rest)
        for key, chance in zip(family, adjusted(by_chance(list(family.values()))), strict=True)
    }

    def held(org: str, each: Compared) -> Compared:
        is_chance = chances.get((org, each.measure.name), 0.0) > FALSE
        return replace(each, meaning="chance") if is_chance and each.meaning != "same" else each

    return {org: tuple(held(org, each) for each in compared) for org, compared in found.items()}


def by_chance(seen: Sequence[tuple[Seen, Seen]] | npt.NDArray[np.int64]) -> Scores:
    """How likely chance alone makes a difference as large: one less the widest of Newcombe's intervals without zero.

    The same test as ``is_chance``, which is its case of 5 %; found by halving, for it has no closed form.
    """
    pairs = np.asarray(seen, dtype=np.float64).reshape(-1, 2, 2)
    wholes = pairs[..., 1]
    shares = pairs[..., 0] / np.maximum(wholes, 1.0)
    change = shares[:, 1] - shares[:, 0]
    low, high = np.zeros(len(pairs)), np.full(len(pairs), FARTHEST)
    for _ in range(HALVINGS):
        errors = (low + high) / 2
        below, above = _reach(shares, np.maximum(wholes, 1.0), errors[:, None])
        grew, fell = np.hypot(below[:, 1], above[:, 0]), np.hypot(above[:, 1], below[:, 0])
        holds = np.where(change > 0, grew, fell) >= np.abs(change)
        low, high = np.where(holds, low, errors), np.where(holds, errors, high)
    chances = np.array([math.erfc(errors / math.sqrt(2)) for errors in high])
    return np.where(wholes.all(axis=1), chances, 1.0)  # of nothing seen, nothing can be told


def _reach(shares: Scores, wholes: Scores, errors: Scores) -> tuple[Scores, Scores]:
    """How far Wilson's interval of so many standard errors reaches below and above each share."""
    square = errors * errors / wholes
    middle = (shares + square / 2) / (1 + square)
    half = np.sqrt(square * (shares * (1 - shares) + square / 4)) / (1 + square)
    return shares - np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0) - shares


def adjusted(chances: Scores) -> Scores:
    """Benjamini and Hochberg's: each ``p · m / rank``, and no more than that of a likelier one.

    Journal of the Royal Statistical Society B 57 (1995). Of all with at most ``FALSE`` that share is chance on average.
    """
    order = np.argsort(chances)
    ranked = chances[order] * len(chances) / np.arange(1, len(chances) + 1)
    found = np.empty(len(chances))
    found[order] = np.minimum(np.minimum.accumulate(ranked[::-1])[::-1], 1.0)
    return found
