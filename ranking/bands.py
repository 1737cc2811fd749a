from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
Pairs = Iterator[tuple[Hashes, Hashes]]

BITS = 64
# a run longer than this, per band, is cheaper to sort again by another band than to compare pair by pair
_SHORT_RUN = 16
# bands that leave more than one pair in this many to compare cost more than comparing all with all
_SPARED = 12
# a gathered pair costs about as much as this many neighbouring ones
_GATHERED = 4
# differences of one tile stay in the second-level cache
_TILE = (64, 2048)


def near_values(distinct: Hashes, threshold: int, free: int = BITS) -> Pairs:
    """Yield every pair of distinct values within ``threshold`` bits, some more than once.

    Only values that agree above their lowest ``free`` bits have to be found. Bands are worth it while they are wide
    (64 bits in 4 are 16 each, which one pair in 65 536 shares by chance); from 9 bits on, all are compared with all.
    """
    if threshold and 1 << (free // (threshold + 1)) >= _SPARED * (threshold + 1):
        yield from _banded(distinct, threshold, free)
    elif threshold:
        ordered = np.sort(distinct)
        for run in np.split(ordered, np.flatnonzero(np.diff(ordered >> np.uint64(free))) + 1):
            yield from _compared(run, threshold)


def _compared(values: Hashes, threshold: int) -> Pairs:
    """All with all, tile by tile on and above the diagonal."""
    rows, columns = _TILE
    for top in range(0, len(values), rows):
        for side in range(top, len(values), columns):
            tile = values[top : top + rows, None] ^ values[None, side : side + columns]
            left, right = np.divmod(np.flatnonzero(np.bitwise_count(tile) <= threshold), tile.shape[1])
            above = top + left < side + right
            if above.any():
                yield values[top + left[above]], values[side + right[above]]


def _banded(values: Hashes, threshold: int, free: int) -> Pairs:
    """Values within t bits agree on one of t + 1 bands (pigeonhole), so each band sorts them into runs to compare.

    A run too long for that is searched again by bands of the bits that are left: skewed text fills few buckets.
    """
    edges = [free * band // (threshold + 1) for band in range(threshold + 2)]
    for low, high in pairwise(edges):
        left_over = free - (high - low)
        ordered = np.sort(_rotated(values, free, low))
        ends = np.append(np.flatnonzero(np.diff(ordered >> np.uint64(left_over))) + 1, len(ordered))
        sizes = np.diff(ends, prepend=0)
        short = sizes <= _SHORT_RUN * (threshold + 1)
        followers = np.repeat(np.where(short, ends, 0), sizes) - np.arange(1, len(ordered) + 1)
        for left, right in _followed(ordered, followers, threshold):
            yield _rotated(left, free, free - low), _rotated(right, free, free - low)
        if not short.all():
            for left, right in near_values(ordered[np.repeat(~short, sizes)], threshold, left_over):
                yield _rotated(left, free, free - low), _rotated(right, free, free - low)


def _followed(ordered: Hashes, followers: npt.NDArray[np.int64], threshold: int) -> Pairs:
    """Compare each value with as many of its followers as are named; near pairs beyond those are true too."""
    at_least = np.cumsum(np.bincount(np.maximum(followers, 0))[::-1])[::-1]
    difference, count = np.empty_like(ordered), np.empty(len(ordered), np.uint8)
    step = 1
    while step < len(at_least) and at_least[step] * _GATHERED > len(ordered):
        head = np.bitwise_xor(ordered[:-step], ordered[step:], out=difference[step:])
        near = np.flatnonzero(np.bitwise_count(head, out=count[step:]) <= threshold)
        if len(near):
            yield ordered[near], ordered[near + step]
        step += 1
    position = np.flatnonzero(followers >= step)
    while len(position):
        left, right = ordered[position], ordered[position + step]
        near = np.bitwise_count(left ^ right) <= threshold
        if near.any():
            yield left[near], right[near]
        step += 1
        position = position[followers[position] >= step]


def _rotated(values: Hashes, free: int, by: int) -> Hashes:
    """Turn the lowest ``free`` bits left; those above them stay."""
    mask = np.uint64((1 << free) - 1)
    low = values & mask
    return (values & ~mask) | (((low << np.uint64(by)) | (low >> np.uint64(free - by))) & mask)
