from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ranking.bands import Hashes
from ranking.components import Positions

Distances = npt.NDArray[np.float64]

# a group up to this size is measured together with all others of its kind, a larger one by itself
_SMALL = 64
# distances of one block stay in the second-level cache
_BLOCK = 1 << 17
# rows of one matrix product
_ROWS = 256


def diameters(
    sizes: Positions, between: Callable[[Positions, Positions], Distances], widest: Callable[[int, int], float]
) -> Distances:
    """The largest distance inside each of the groups that lie one after another, ``sizes`` rows each.

    ``between`` measures pairs of rows, ``widest`` a whole group from its first row to the one after its last.
    """
    ends = np.cumsum(sizes)
    largest = np.zeros(len(sizes))
    group = np.repeat(np.arange(len(sizes)), sizes)
    row, step = np.arange(len(group)), 1
    row = row[sizes[group] <= _SMALL]
    while len(row := row[row + step < ends[group[row]]]):
        np.maximum.at(largest, group[row], between(row, row + step))
        step += 1
    for large in np.flatnonzero(sizes > _SMALL).tolist():
        largest[large] = widest(int(ends[large] - sizes[large]), int(ends[large]))
    return largest


def hash_diameters(hashes: Hashes, groups: Positions, count: int) -> Distances:
    """The largest Hamming distance inside each of ``count`` groups, exact; equal fingerprints are looked at once."""
    order = np.lexsort((hashes, groups))
    hashes, groups = hashes[order], groups[order]
    new = (np.diff(groups, prepend=-1) != 0) | (np.diff(hashes, prepend=np.uint64(0)) != 0)
    values = hashes[new]
    return diameters(
        np.bincount(groups[new], minlength=count),
        lambda left, right: np.bitwise_count(values[left] ^ values[right]).astype(np.float64),
        lambda start, end: _widest_hashes(values[start:end]),
    )


def _widest_hashes(values: Hashes) -> float:
    """The largest distance of all pairs, looking only at those far enough from the middle to beat the best so far.

    ``d(a, b) ≤ d(a, middle) + d(b, middle)`` for any middle; the majority of every bit makes both terms small.
    """
    bits = np.unpackbits(values.view(np.uint8).reshape(-1, 8), axis=1)
    middle = np.packbits(bits.mean(axis=0) > 0.5).view(np.uint64)  # noqa: PLR2004 - the majority
    radius = np.bitwise_count(values ^ middle).astype(np.int64)
    order = np.argsort(-radius, kind="stable")
    values, radius = values[order], radius[order]
    best, start = 0, 0
    while start < len(values) and radius[0] + radius[start] > best:
        reach = int(np.searchsorted(-radius, radius[start] - best))
        rows = max(1, _BLOCK // reach)
        best = max(best, int(np.bitwise_count(values[start : start + rows, None] ^ values[None, :reach]).max()))
        start += rows
    return float(best)


def cosine_diameters(units: npt.NDArray[np.float64], groups: Positions, count: int) -> Distances:
    """The largest ``1 − cosine`` inside each of ``count`` groups of unit vectors."""
    units = units[np.argsort(groups, kind="stable")]
    return diameters(
        np.bincount(groups, minlength=count),
        lambda left, right: 1.0 - np.einsum("ij,ij->i", units[left], units[right]),
        lambda start, end: _widest_units(units[start:end]),
    )


def _widest_units(units: npt.NDArray[np.float64]) -> float:
    """Find the widest pair in float32, which is enough to compare by, then measure it in full."""
    narrow = units.astype(np.float32)
    widest = 0.0
    for start in range(0, len(units), _ROWS):
        products = narrow[start : start + _ROWS] @ narrow[start:].T
        left, right = np.divmod(int(products.argmin()), products.shape[1])
        widest = max(widest, 1.0 - float(units[start + left] @ units[start + right]))
    return widest
