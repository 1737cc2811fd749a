import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from ranking.bands import BITS, Hashes, near_values
from ranking.components import Components, Positions


def check_threshold(threshold: int) -> int:
    """The threshold as a number of bits, 0–64."""
    if isinstance(threshold, bool) or not isinstance(threshold, int | np.integer) or not 0 <= threshold <= BITS:
        raise ValueError(f"threshold: expected a whole number of bits from 0 to {BITS}, found {threshold!r}")
    return int(threshold)


def check_hashes(hashes: npt.ArrayLike) -> Hashes:
    """Fingerprints as one row of unsigned 64-bit integers."""
    array = hashes if isinstance(hashes, np.ndarray) else _exact(hashes)
    if array.ndim != 1 or (array.size and (array.dtype.kind not in "ui" or array.min() < 0)):
        raise ValueError(f"hashes: expected one row of unsigned integers, found {array.dtype} of shape {array.shape}")
    return array.astype(np.uint64, copy=False)


def _exact(hashes: npt.ArrayLike) -> npt.NDArray[Any]:
    """A list of integers, not by way of floats as numpy reads one that goes beyond 2⁶³; any other list as it is."""
    try:
        return np.array([operator.index(value) for value in hashes], dtype=np.uint64)  # type: ignore[union-attr,arg-type]
    except (OverflowError, TypeError):
        return np.asarray(hashes, dtype=np.object_)


def near_pairs(hashes: npt.ArrayLike, threshold: int = 3) -> tuple[Positions, Positions]:
    """Rows (left < right) of every pair of fingerprints within ``threshold`` bits, in order of left, then right.

    3 bits is Rensei's choice for 64 (000). A page of equal fingerprints gives every pair of them: ask for
    ``near_components`` where only the groups matter.
    """
    threshold, hashes = check_threshold(threshold), check_hashes(hashes)
    order = np.argsort(hashes, kind="stable")
    distinct, first, counts = np.unique(hashes[order], return_index=True, return_counts=True)
    one, other = _distinct_pairs(distinct, threshold)
    same = np.flatnonzero(counts > 1)
    one, other = np.concatenate((one, same)), np.concatenate((other, same))
    combinations = counts[one] * counts[other]
    pair = np.repeat(np.arange(len(one)), combinations)
    inner = np.arange(len(pair)) - np.repeat(np.cumsum(combinations) - combinations, combinations)
    a, b = np.divmod(inner, counts[other][pair])
    left, right = order[first[one][pair] + a], order[first[other][pair] + b]
    wanted = (one != other)[pair] | (a < b)
    return _in_order(left[wanted], right[wanted], len(hashes))


def _distinct_pairs(distinct: Hashes, threshold: int) -> tuple[Positions, Positions]:
    """Positions of the near pairs of a sorted row without repeats, each pair once, the smaller position first."""
    found = [np.searchsorted(distinct, np.stack(pair)) for pair in near_values(distinct, threshold)]
    one, other = np.concatenate([np.empty((2, 0), np.int64), *found], axis=1)
    return _in_order(one, other, len(distinct))


def _in_order(one: Positions, other: Positions, rows: int) -> tuple[Positions, Positions]:
    """Each pair once, smaller position first, sorted: as one number per pair, which sorts ten times faster than two."""
    keys = np.sort(np.minimum(one, other) * rows + np.maximum(one, other))
    return np.divmod(keys[np.diff(keys, prepend=-1) > 0], max(1, rows))


def near_components(hashes: npt.ArrayLike, threshold: int = 3) -> Positions:
    """A component number per fingerprint, the same for rows linked by a chain of near pairs (single linkage)."""
    threshold = check_threshold(threshold)
    distinct, inverse = np.unique(check_hashes(hashes), return_inverse=True)
    components = Components(len(distinct))
    for pair in near_values(distinct, threshold):
        components.link(np.searchsorted(distinct, np.stack(pair)))
    return components.firsts()[inverse]
