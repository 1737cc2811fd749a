from functools import reduce
from operator import or_
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ranking.contradictions.vocabulary import Flags, Ids

Counts = npt.NDArray[np.uint8]


class Difference(NamedTuple):
    """How far the words of two clauses may differ, on the side with fewer of its own and on the other."""

    fewer: int
    more: int


# what judging allows beside the conflict itself, and the words of the conflict
_OPPOSED, _NEGATED, _CUED, _VALUED = Difference(1, 4), Difference(0, 2), Difference(2, 4), Difference(1, 5)
_NAMED, _SWAPPED, _HELD = Difference(3, 4), Difference(2, 2), Difference(1, 1)
_DIFFERENCES = (_OPPOSED, _NEGATED, _CUED, _VALUED, _NAMED, _SWAPPED, _HELD)
# what both stretches must hold for a kind, or one of them: a bit each, and how far they may then differ
_HELD_BITS = {128: _OPPOSED, 64: _VALUED, 32: _NAMED, 16: _NAMED, 8: _VALUED, 4: _HELD, 2: _CUED}
OPPOSED, EITHER, TOLD = np.uint8(128), np.uint8(2), np.uint8(1)
BOTH = ~(EITHER | TOLD)
_WIDE = 8
_FITTING = np.array(
    [
        sum(
            bit for bit, limit in _HELD_BITS.items() if min(one, other) <= limit.fewer and max(one, other) <= limit.more
        )
        for one in range(_WIDE)
        for other in range(_WIDE)
    ],
    np.uint8,
)


def fitting(one: Counts, other: Counts) -> Counts:
    """The bits of what two stretches must hold that differ in so many words on either side."""
    bits: Counts = _FITTING[np.minimum(one, _WIDE - 1) * _WIDE + np.minimum(other, _WIDE - 1)]
    return bits


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

    def fit(self, one: Ids | Counts, other: Ids | Counts) -> Flags:
        """Whether sides that differ in so many words may conflict in one of the ways they could."""
        fewer, more = np.minimum(one, other), np.maximum(one, other)
        fits = [
            flags & (fewer <= limit.fewer) & (more <= limit.more)
            for flags, limit in zip(self, _DIFFERENCES, strict=True)
        ]
        return reduce(or_, fits)
