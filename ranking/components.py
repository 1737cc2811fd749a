import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

Positions = npt.NDArray[np.int64]

# links held before they are folded in: fewer folds than blocks of pairs, and memory stays flat
_HELD = 1_000_000


class Components:
    """Connected components of rows that are linked pair by pair, block after block."""

    def __init__(self, rows: int) -> None:
        # the first row of each row's component, of all links folded in so far
        self.first: Positions = np.arange(rows)
        self._held: list[Positions] = []
        self._waiting = 0

    def link(self, pairs: Positions) -> None:
        """Link pairs of rows, given as an array of two rows; those known to be together cost nothing later."""
        self._held.append(pairs[:, self.first[pairs[0]] != self.first[pairs[1]]])
        self._waiting += self._held[-1].shape[1]
        if self._waiting > max(_HELD, len(self.first)):
            self._fold()

    def firsts(self) -> Positions:
        """The first row of each row's component."""
        self._fold()
        return self.first

    def _fold(self) -> None:
        rows = np.arange(len(self.first))
        left, right = np.concatenate([np.stack((rows, self.first)), *self._held], axis=1)
        graph = coo_array((np.ones(len(left), np.int8), (left, right)), shape=(len(rows), len(rows)))
        component = connected_components(graph, directed=False)[1]
        folded = np.empty_like(rows)
        # the last write wins, so walking backwards leaves the first row of each component
        folded[component[::-1]] = rows[::-1]
        self.first, self._held, self._waiting = folded[component], [], 0
