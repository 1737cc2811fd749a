from functools import reduce
from operator import or_
from typing import NamedTuple

import numpy as np

from ranking.contradictions.vocabulary import Flags, Ids


class Difference(NamedTuple):
    """How far the words of two clauses may differ, on the side with fewer of its own and on the other."""

    fewer: int
    more: int


# what judging allows beside the conflict itself, and the words of the conflict
_OPPOSED, _NEGATED, _CUED, _VALUED = Difference(1, 4), Difference(0, 2), Difference(2, 4), Difference(1, 5)
_NAMED, _SWAPPED, _HELD = Difference(3, 4), Difference(2, 2), Difference(1, 1)
_DIFFERENCES = (_OPPOSED, _NEGATED, _CUED, _VALUED, _NAMED, _SWAPPED, _HELD)
MOST = Difference(max(limit.fewer for limit in _DIFFERENCES), max(limit.more for limit in _DIFFERENCES))


class Kinds(NamedTuple):
    """Which kinds of conflict each pair of stretches may be."""

    opposed: Flags
    negated: Flags
    cued: Flags
    valued: Flags
    named: Flags
    swapped: Flags
    held: Flags

    def at(self, kept: Ids | Flags) -> "Kinds":
        return Kinds(*(flags[kept] for flags in self))

    def fit(self, one: Ids, other: Ids) -> Flags:
        """Whether sides that differ in so many words may conflict in one of the ways they could."""
        fewer, more = np.minimum(one, other), np.maximum(one, other)
        fits = [
            flags & (fewer <= limit.fewer) & (more <= limit.more)
            for flags, limit in zip(self, _DIFFERENCES, strict=True)
        ]
        return reduce(or_, fits)
