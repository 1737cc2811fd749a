from collections.abc import Iterator
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int64]
Pairs = Iterator[tuple[Hashes, Hashes]]

BITS = 64
# per band: a run up to this long is compared value by value together with all others like it
_SHORT_RUN = 32
# per band: a run up to this long is compared all with all, a longer one is cheaper to sort again by another band
_LONG_RUN = 96
# by chance, bands must leave at most one pair in this many, or comparing all with all costs less; real text is skewed,
# so where all with all takes a tenth of a second anyway more is asked of them
_SPARED, _SPARED_OF_FEW, _FEW = 12, 100, 12_000
# a gathered pair costs about as much as this many neighbouring ones
_GATHERED = 4
# differences of one tile stay in the second-level cache
_TILE = (256, 256)


def near_values(distinct: Hashes, threshold: int, free: int = BITS) -> Pairs:
    """Yield every pair of distinct values within ``threshold`` bits, some more than once.

    Only values that agree above their lowest ``free`` bits have to be found. Bands are worth it while they are wide
    (64 bits in 4 are 16 each, which one pair in 65 536 shares by chance). From 9 bits on, and among a few thousand
    from 6 bits on, all are compared with all.
    """
    spared = (1 << (free // (threshold + 1))) / (threshold + 1)
    if threshold and spared >= (_SPARED if len(distinct) > _FEW else _SPARED_OF_FEW):
        yield from _banded(distinct, threshold, free)
    elif threshold:
        ordered = np.sort(distinct)
        ends = _run_ends(ordered, free)
        yield from _compared_runs(ordered, ends, np.diff(ends, prepend=0), threshold)


def _run_ends(ordered: Hashes, free: int) -> Positions:
    """Where the runs of sorted values end that agree above their lowest ``free`` bits."""
    return np.append(np.flatnonzero(np.diff(ordered >> np.uint64(free))) + 1, len(ordered))


def _compared_runs(ordered: Hashes, ends: Positions, sizes: Positions, threshold: int) -> Pairs:
    for end, size in zip(ends.tolist(), sizes.tolist(), strict=True):
        yield from _compared(ordered[end - size : end], threshold)


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

    Skewed text fills few buckets, so a long run is searched again by bands of the bits that are left, unless this band
    hardly cut it: t + 1 searches of a run are worth it only if it is 1/√(t + 1) of what it was cut from, or less.
    """
    edges = [free * band // (threshold + 1) for band in range(threshold + 2)]
    for low, high in pairwise(edges):
        left_over = free - (high - low)
        ordered = np.sort(_rotated(values, free, low))
        ends, whole = _run_ends(ordered, left_over), _run_ends(ordered, free)
        sizes = np.diff(ends, prepend=0)
        cut_from = np.diff(whole, prepend=0)[np.searchsorted(whole, ends)]
        short = sizes <= _SHORT_RUN * (threshold + 1)
        again = (sizes > _LONG_RUN * (threshold + 1)) & (sizes**2 * (threshold + 1) <= cut_from**2)
        plain = ~short & ~again
        followers = np.repeat(np.where(short, ends, 0), sizes) - np.arange(1, len(ordered) + 1)
        for left, right in chain(
            _followed(ordered, followers, threshold),
            _compared_runs(ordered, ends[plain], sizes[plain], threshold),
            near_values(ordered[np.repeat(again, sizes)], threshold, left_over) if again.any() else (),
        ):
            yield _rotated(left, free, free - low), _rotated(right, free, free - low)


def _followed(ordered: Hashes, followers: Positions, threshold: int) -> Pairs:
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
