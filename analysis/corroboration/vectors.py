"""Who says the same by embedding: links at every cosine of the slider, how wide clusters are, and a map of all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from analysis.corroboration.agreement import SweepPoint, agree, linkage_from_json, linkage_to_json, swept
from analysis.corroboration.packed_arrays import pack, unpack
from queries.replay.logged import READING, id_text
from queries.replay.texts import FullVectors
from ranking import Clusters, Linkage, cosine_linkage
from ranking.diameter import cosine_diameters
from ranking.similar import unit_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from analysis.corroboration.agreement import Agreement, HasStore
    from queries.engine import Store
    from queries.scope import Scope

    Report = Callable[[int, int, str], None]
    Flags = npt.NDArray[np.bool_]
    Scores = npt.NDArray[np.float64]
    Units = npt.NDArray[np.float64]

COSINES = tuple(round(1 - step / 100, 2) for step in range(21))  # the slider's, from the same to loosely alike
LOOSEST = 0.79  # one step beyond the slider, for its near misses
ROUNDING = 1e-6  # what float32 embeddings may err by
FEW = 3  # observations that make a picture
FLAT = 1e-9


@dataclass(frozen=True, eq=False)
class VectorLinks:
    """Links of the observations that have a comparable vector, by the ids they had when vectors were read."""

    ids: tuple[str, ...]
    linkage: Linkage
    without: int

    def aligned(self, agreement: Agreement) -> tuple[Linkage, tuple[SweepPoint, ...]]:
        """The same links between the rows of an agreement, and what each cosine finds."""
        row_of = {id_: row for row, id_ in enumerate(agreement.ids)}
        rows = np.array([row_of.get(id_, -1) for id_ in self.ids], np.int64)
        left, right = (rows[end] if len(rows) else end for end in (self.linkage.left, self.linkage.right))
        known = (left >= 0) & (right >= 0)
        found = Linkage(len(agreement), left[known], right[known], self.linkage.level[known], self.linkage.most)
        return found, swept(found, [-cosine for cosine in COSINES])

    def to_json(self) -> dict[str, Any]:
        """As it travels."""
        return {"ids": list(self.ids), "linkage": linkage_to_json(self.linkage), "without": self.without}

    @classmethod
    def from_json(cls, said: dict[str, Any]) -> VectorLinks:
        """What ``to_json`` wrote."""
        return cls(tuple(said["ids"]), linkage_from_json(said["linkage"]), said["without"])


@dataclass(frozen=True)
class Widths:
    """How wide clusters are by embedding: the largest ``1 − cosine`` inside, by any of their members."""

    by_member: dict[str, float]

    def put(self, clusters: Clusters, cosine: float) -> Clusters:
        """The clusters with their diameters; NaN stays for one that was not measured."""
        names = () if clusters.ids is None else clusters.ids.tolist()
        diameter = clusters.diameter.copy()
        for row, name in enumerate(names):
            if name in self.by_member and clusters.cluster[row] >= 0:
                diameter[clusters.cluster[row]] = self.by_member[name]
        chained: Flags = np.nan_to_num(diameter) > 1 - cosine + ROUNDING
        return replace(clusters, diameter=diameter, chained=chained)


@dataclass(frozen=True, eq=False)
class Places:
    """Where each observation lies on a map of the unit square; ``by`` is what was projected."""

    ids: tuple[str, ...]
    x: Scores
    y: Scores
    by: str

    def to_json(self) -> dict[str, Any]:
        """As it travels."""
        ends = {"x": pack(self.x.astype(np.float32)), "y": pack(self.y.astype(np.float32))}
        return {"ids": list(self.ids), **ends, "by": self.by}

    @classmethod
    def from_json(cls, said: dict[str, Any]) -> Places:
        """What ``to_json`` wrote."""
        return cls(tuple(said["ids"]), unpack(said["x"]).astype(float), unpack(said["y"]).astype(float), said["by"])


def read_units(store: Store, scope: Scope, agreement: Agreement) -> tuple[list[int], Units]:
    """The rows that have a full vector of the dimension most have, and those vectors at length 1."""
    row_of = {id_: row for row, id_ in enumerate(agreement.ids)}
    wanted = FullVectors(scope.org or "", tuple(UUID(id_) for id_ in agreement.ids))
    with store.reading(scope.reach, READING, name="corroboration vectors") as snapshot:
        stored = wanted.read(snapshot)
    rows = [row_of[id_text(bytes(id_))] for id_ in stored.id]
    order = np.argsort(rows, kind="stable")
    units = unit_rows(np.nan_to_num(stored.vectors[order]))
    return [rows[place] for place in order.tolist()], units


def link_vectors(store: Store, scope: Scope) -> VectorLinks:
    """Links of the newest observations of a scope by cosine, inside each project."""
    agreement = agree(store, scope)
    rows, units = read_units(store, scope, agreement)
    linkage = cosine_linkage(units, LOOSEST, apart=agreement.project.code[rows])
    return VectorLinks(tuple(agreement.ids[row] for row in rows), linkage, len(agreement) - len(rows))


def measure(store: Store, scope: Scope, cosine: float) -> Widths:
    """How wide the clusters at a cosine are: a second look at the vectors, for the cosine that is looked at."""
    agreement = agree(store, scope)
    rows, units = read_units(store, scope, agreement)
    component = cosine_linkage(units, max(cosine, LOOSEST), apart=agreement.project.code[rows]).groups_at(-cosine)
    names, number, sizes = np.unique(component, return_inverse=True, return_counts=True)
    diameter = cosine_diameters(units, number, len(names))
    return Widths({agreement.ids[rows[names[n]]]: float(diameter[n]) for n in np.flatnonzero(sizes > 1).tolist()})


def place(store: Store, scope: Scope) -> Places:
    """A map on which what is alike lies close: two directions of the vectors, or of the fingerprints without any.

    The same data always give the same map.
    """
    agreement = agree(store, scope)
    rows, units = read_units(store, scope, agreement)
    by = "vectors"
    if len(rows) < FEW:
        heard = np.flatnonzero(agreement.tokens)
        rows, by = heard.tolist(), "fingerprints"
        bits = np.unpackbits(agreement.hashes[heard].view(np.uint8).reshape(-1, 8), axis=1)
        units = unit_rows(2.0 * bits - 1.0)
    xy = projected(units)
    return Places(tuple(agreement.ids[row] for row in rows), xy[:, 0], xy[:, 1], by)


def projected(units: Units) -> Scores:
    """Points of the unit square, one per row: the two principal directions, half by value and half by rank.

    By value alone most would lie on one heap in the middle, by rank alone groups would be drawn out.
    """
    if len(units) < FEW:
        return np.full((len(units), 2), 0.5)
    from sklearn.utils.extmath import randomized_svd  # noqa: PLC0415 - a second to import, and pages never project

    left, values, _ = randomized_svd(units - units.mean(axis=0), 2, random_state=0)
    plain = left * values
    low, span = plain.min(axis=0), np.ptp(plain, axis=0)
    # a direction in which nothing differs has rounding for values, and no order worth drawing
    flat = span <= FLAT
    by_value = (plain - low) / np.where(flat, 1.0, span)
    by_rank = np.argsort(np.argsort(plain, axis=0, kind="stable"), axis=0) / (len(units) - 1)
    return np.where(flat, 0.5, (by_value + by_rank) / 2)


def inside(x: Scores, y: Scores, corners: list[tuple[float, float]]) -> Flags:
    """Which points lie inside a polygon: a ray to the right crosses its border an odd number of times."""
    odd = np.zeros(len(x), np.bool_)
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1], strict=True):
        if y0 != y1:
            crosses = (y0 > y) != (y1 > y)
            odd ^= crosses & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
    return odd


def vectors_in_worker(memory: HasStore, scope: Scope, _params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """The worker's task ``corroboration_vectors``."""
    report(0, 1, "comparing vectors")
    return link_vectors(memory.store, scope).to_json()


def widths_in_worker(memory: HasStore, scope: Scope, params: Mapping[str, Any], report: Report) -> dict[str, float]:
    """The worker's task ``corroboration_widths``: ``cosine`` is the threshold."""
    report(0, 1, "measuring clusters")
    return measure(memory.store, scope, float(params["cosine"])).by_member


def map_in_worker(memory: HasStore, scope: Scope, _params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """The worker's task ``corroboration_map``."""
    report(0, 1, "projecting vectors")
    return place(memory.store, scope).to_json()
