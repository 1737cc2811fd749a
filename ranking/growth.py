from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from ranking.bands import near_values
from ranking.clusters import CountBy
from ranking.components import Positions
from ranking.near_pairs import check_hashes, check_threshold

# links held before all but those of a spanning tree are let go
_HELD = 1_000_000

Moments = npt.NDArray[np.int64]


def corroborating_at(
    hashes: npt.ArrayLike,
    created: Moments,
    rows: Positions,
    moments: Moments,
    threshold: int = 3,
    *,
    agents: Positions | None = None,
) -> Positions:
    """How many others said the same as each of ``rows`` at each of ``moments``, among what was created before then.

    Equal to clustering anew at every moment. Clusters only grow, so one walk through time answers for all moments. With
    ``agents`` (a number per row, -1 unknown) the other agents are counted and not the other members.
    """
    texts = check_hashes(hashes)
    answer = np.zeros(len(rows), np.int64)
    first, second = _links(texts, created, check_threshold(threshold))
    linked = np.zeros(len(texts), np.bool_)
    linked[first] = linked[second] = True
    asked = np.flatnonzero(linked[rows] & (created[rows] < moments))
    begins = np.maximum(created[first], created[second])
    order = np.argsort(begins, kind="stable")
    links = zip(begins[order].tolist(), first[order].tolist(), second[order].tolist(), strict=True)
    growing = _Growing(len(texts), agents)
    due = next(links, None)
    for place in asked[np.argsort(moments[asked], kind="stable")].tolist():
        while due is not None and due[0] < moments[place]:
            growing.join(due[1], due[2])
            due = next(links, None)
        answer[place] = growing.others(int(rows[place]))
    return answer


def count_codes(names: tuple[str | None, ...], count_by: CountBy) -> Positions | None:
    """A number per distinct name where agents are counted, -1 for none; None where members are."""
    if count_by is not CountBy.AGENTS:
        return None
    codes: dict[str, int] = {}
    return np.array([-1 if name is None else codes.setdefault(name, len(codes)) for name in names], np.int64)


class _Growing:
    """Rows joined one pair after the other; each group knows its size and its agents."""

    def __init__(self, rows: int, agents: Positions | None) -> None:
        self.parent = list(range(rows))
        self.size = [1] * rows
        self.heard = None if agents is None else [{agent} if agent >= 0 else set() for agent in agents.tolist()]

    def join(self, one: int, other: int) -> None:
        small, large = sorted((self._root(one), self._root(other)), key=self.size.__getitem__)
        if small == large:
            return
        self.parent[small] = large
        self.size[large] += self.size[small]
        if self.heard is not None:
            self.heard[large] |= self.heard[small]

    def others(self, row: int) -> int:
        root = self._root(row)
        return self.size[root] - 1 if self.heard is None else max(len(self.heard[root]) - 1, 0)

    def _root(self, row: int) -> int:
        while self.parent[row] != row:
            self.parent[row] = row = self.parent[self.parent[row]]
        return row


def _links(hashes: npt.NDArray[np.uint64], created: Moments, threshold: int) -> tuple[Positions, Positions]:
    """Pairs of rows that connect at any moment what near pairs connect then.

    Copies of a text in the order they came, and the first copies of near texts: few even for a page of equal texts.
    """
    order = np.lexsort((np.arange(len(hashes)), created, hashes))
    ordered = hashes[order]
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    heads = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] + np.uint64(1))) if len(ordered) else order
    distinct, earliest = ordered[heads], order[heads]
    near = [np.empty((2, 0), np.int64), *_near(distinct, created[earliest], threshold)]
    one, other = np.concatenate(near, axis=1)
    return np.concatenate((order[same], earliest[one])), np.concatenate((order[same + 1], earliest[other]))


def _near(distinct: npt.NDArray[np.uint64], since: Moments, threshold: int) -> Iterator[npt.NDArray[np.int64]]:
    """Near pairs of sorted values, thinned to the links that join two groups first."""
    held: list[npt.NDArray[np.int64]] = []
    for pair in near_values(distinct, threshold):
        held.append(np.searchsorted(distinct, np.stack(pair)))
        if sum(block.shape[1] for block in held) > _HELD:
            held = [_earliest(np.concatenate(held, axis=1), since)]
    yield from held


def _earliest(pairs: npt.NDArray[np.int64], since: Moments) -> npt.NDArray[np.int64]:
    """The links of a spanning forest by time: whatever two rows are connected at a moment still are."""
    count = len(since)
    # each pair once: the graph would add up the moments of one found twice
    one, other = np.divmod(np.unique(pairs.min(axis=0) * count + pairs.max(axis=0)), count)
    begins = np.maximum(since[one], since[other]) - since.min() + 1.0
    tree = minimum_spanning_tree(coo_array((begins, (one, other)), shape=(count, count)).tocsr()).tocoo()
    return np.stack((tree.row, tree.col)).astype(np.int64)
