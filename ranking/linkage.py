from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from ranking.bands import Hashes, near_values
from ranking.candidates import Flags
from ranking.components import Components, Positions
from ranking.limits import within
from ranking.near_pairs import check_hashes, check_threshold
from ranking.similar import unit_rows

Levels = npt.NDArray[np.float64]
Links = tuple[Positions, Positions, Levels]

# a forest is found in so many steps of its levels
_STEPS = 16
# links held before all but those of a spanning tree are let go
_HELD = 1_000_000
# rows of one block of products
_ROWS = 256
# float32 products of unit vectors err by less; what is nearer to the edge is multiplied again in float64
_ROUNDING = 1e-5


@dataclass(frozen=True, eq=False)
class Linkage:
    """The shortest links that join near rows (single linkage), by level: one search, and every threshold is a cut.

    A level is what has to be allowed for a link: so many bits, or minus the cosine. No rows are linked beyond ``most``.
    """

    count: int
    left: Positions
    right: Positions
    level: Levels
    most: float

    def __post_init__(self) -> None:
        for column in (self.left, self.right, self.level):
            column.flags.writeable = False

    def groups_at(self, level: float) -> Positions:
        """A component number per row, the same for rows that a chain of links up to this level connects."""
        if level > self.most:
            raise ValueError(f"level: expected {self.most:g} at most, as far as was looked, found {level:g}")
        components = Components(self.count)
        links = int(np.searchsorted(self.level, level, side="right"))
        components.link(np.stack((self.left[:links], self.right[:links])))
        return components.firsts()

    def sizes(self, level: float) -> Positions:
        """How many rows each cluster of two or more has at this level, largest first."""
        sizes = np.bincount(self.groups_at(level), minlength=1)
        return -np.sort(-sizes[sizes > 1])

    def first_levels(self) -> Levels:
        """The level at which each row is no longer alone; infinite for one that nothing is near."""
        levels = np.full(self.count, np.inf)
        # the shortest link of a row is always part of the tree
        np.minimum.at(levels, self.left, self.level)
        np.minimum.at(levels, self.right, self.level)
        return levels


def hash_linkage(
    hashes: npt.ArrayLike, most: int = 17, *, heard: Flags | None = None, apart: Positions | None = None
) -> Linkage:
    """Links of fingerprints up to ``most`` bits: 17 is one more than the slider's 16, for its near misses.

    Rows that are not ``heard`` are near to nothing; rows with other numbers in ``apart`` are never near each other.
    """
    most, texts = check_threshold(most), check_hashes(hashes)
    return _joined(len(texts), float(most), (_hash_links(texts, rows, most) for rows in _groups(texts, heard, apart)))


def cosine_linkage(embeddings: npt.NDArray[np.floating], least: float, *, apart: Positions | None = None) -> Linkage:
    """Links of vectors of at least that cosine; a level is minus the cosine, so that nearer is lower."""
    within("least", least, -1, 1)
    units = unit_rows(embeddings)
    heard: Flags = np.asarray(units.any(axis=1))
    groups = _groups(units, heard, apart)
    return _joined(len(units), -least, (_cosine_links(units, rows, least) for rows in groups))


def _groups(rows: npt.NDArray[np.generic], heard: Flags | None, apart: Positions | None) -> Iterator[Positions]:
    every = np.arange(len(rows)) if heard is None else np.flatnonzero(heard)
    if apart is None:
        yield every
        return
    for number in np.unique(apart[every]):
        yield every[apart[every] == number]


def _joined(count: int, most: float, parts: Iterable[Links]) -> Linkage:
    nothing = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    left, right, level = (np.concatenate(columns) for columns in zip(nothing, *parts, strict=True))
    order = np.lexsort((right, left, level))
    return Linkage(count, left[order], right[order], level[order], most)


def _hash_links(hashes: Hashes, rows: Positions, most: int) -> Links:
    """Copies of a text one after the other, then the tree of the distinct texts' first copies."""
    order = rows[np.argsort(hashes[rows], kind="stable")]
    ordered = hashes[order]
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    distinct, first = np.unique(ordered, return_index=True)
    found = _tree(len(distinct), (_measured(distinct, *pair) for pair in near_values(distinct, most)))
    one, other, bits = found
    return (
        np.concatenate((order[same], order[first[one]])),
        np.concatenate((order[same + 1], order[first[other]])),
        np.concatenate((np.zeros(len(same)), bits)),
    )


def _measured(distinct: Hashes, one: Hashes, other: Hashes) -> Links:
    bits = np.bitwise_count(one ^ other).astype(np.float64)
    return np.searchsorted(distinct, one), np.searchsorted(distinct, other), bits


def _cosine_links(units: npt.NDArray[np.float64], rows: Positions, least: float) -> Links:
    """Equal vectors one after the other, then the tree of the distinct ones."""
    keys = np.ascontiguousarray(units[rows]).view(np.void(units.shape[1] * units.itemsize).dtype).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    same = np.flatnonzero(np.diff(inverse[order]) == 0)
    heads = rows[first]
    one, other, level = _tree(len(heads), _near_units(units[heads], least))
    return (
        np.concatenate((rows[order[same]], heads[one])),
        np.concatenate((rows[order[same + 1]], heads[other])),
        np.concatenate((np.full(len(same), -1.0), level)),
    )


def _near_units(units: npt.NDArray[np.float64], least: float) -> Iterator[Links]:
    narrow = units.astype(np.float32)
    for start in range(0, len(narrow), _ROWS):
        products = narrow[start : start + _ROWS] @ narrow[start:].T
        left, right = np.nonzero(np.triu(products >= least - _ROUNDING, 1))
        exact = np.einsum("ij,ij->i", units[start + left], units[start + right])
        near = exact >= least
        yield start + left[near], start + right[near], -exact[near]


def _tree(count: int, blocks: Iterable[Links]) -> Links:
    """The links of a spanning forest by level: whatever is connected at a level still is."""
    held: list[Links] = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    waiting = 0
    for block in blocks:
        held.append(block)
        waiting += len(block[0])
        if waiting > _HELD:
            held = [_thinned(count, held)]
            waiting = len(held[0][0])
    return _thinned(count, held)


def _thinned(count: int, held: list[Links]) -> Links:
    """Shortest links first, step by step: of what an earlier step has joined already, nothing is looked at again."""
    left, right, level = (np.concatenate(columns) for columns in zip(*held, strict=True))
    components, kept = Components(count), [np.empty(0, np.int64)]
    span = float(np.ptp(level)) if len(level) else 0.0
    step = ((level - level.min()) / span * _STEPS).astype(np.int8) if span else np.zeros(len(level), np.int8)
    for number in range(_STEPS + 1):
        mine = np.flatnonzero(step == number)
        first = components.firsts()
        mine = mine[first[left[mine]] != first[right[mine]]]
        if len(mine):
            kept.append(mine[_forest(first[left[mine]], first[right[mine]], level[mine], count)])
            components.link(np.stack((left[kept[-1]], right[kept[-1]])))
    chosen = np.concatenate(kept)
    return left[chosen], right[chosen], level[chosen]


def _forest(one: Positions, other: Positions, level: Levels, count: int) -> Positions:
    """Which of some links make the shortest forest between components."""
    keys = np.minimum(one, other) * count + np.maximum(one, other)
    # the graph would add up the levels of parallel links: of each pair of components the shortest stays
    order = np.lexsort((level, keys))
    order = order[np.diff(keys[order], prepend=-1) > 0]
    pairs = keys[order]
    # a graph has no links of length zero or less: ranks decide as well
    rank = np.unique(level[order], return_inverse=True)[1] + 1.0
    tree = minimum_spanning_tree(coo_array((rank, np.divmod(pairs, count)), shape=(count, count)).tocsr()).tocoo()
    found = np.minimum(tree.row, tree.col).astype(np.int64) * count + np.maximum(tree.row, tree.col)
    return order[np.searchsorted(pairs, found)]
