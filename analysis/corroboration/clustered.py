"""An agreement under one choice of the sliders: its clusters, what they are worth, what stands just outside them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.corroboration.agreement import MOST_BITS, SweepPoint
from analysis.corroboration.disputes import Dispute, between, settled, verdicts
from ranking import Clusters, Method, cluster_near_duplicates
from ranking.corroboration import SCALE, corroboration_boost
from ranking.limits import within
from ranking.near_duplicates import DUPLICATE_COSINE
from ranking.near_pairs import check_threshold

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from analysis.corroboration.agreement import Agreement
    from analysis.corroboration.log import LoggedCandidates
    from analysis.corroboration.vectors import VectorLinks, Widths
    from ranking import Linkage

    Flags = npt.NDArray[np.bool_]
    Whole = npt.NDArray[np.int64]
    Scores = npt.NDArray[np.float64]

INDEPENDENT = 2  # agents that make a cluster more than self-repetition
CLIFF, CROWD = 2.0, 20  # chaining starts where one more bit makes the largest cluster so many times as large
COSINE_STEP = 0.01


@dataclass(frozen=True)
class Nearness:
    """What counts as saying the same, and what a voice is worth: the page's sliders."""

    method: Method = Method.SIMHASH
    bits: int = 3
    cosine: float = DUPLICATE_COSINE
    scale: float = SCALE

    def __post_init__(self) -> None:
        check_threshold(self.bits)
        within("cosine", self.cosine, -1, 1)
        within("scale", self.scale, 0)

    @property
    def level(self) -> float:
        """What has to be allowed for a link."""
        return float(self.bits) if self.method is Method.SIMHASH else -self.cosine

    @property
    def looser(self) -> Nearness:
        """One step further: threshold + 1."""
        if self.method is Method.SIMHASH:
            return replace(self, bits=min(self.bits + 1, MOST_BITS + 1))
        return replace(self, cosine=round(self.cosine - COSINE_STEP, 10))


@dataclass(frozen=True, eq=False)
class Clustered:
    """The clusters of an agreement under one nearness; ``disputed`` is None while nobody knows what contradicts.

    ``measured`` says whether diameters are known, ``without`` how many rows have no vector where vectors are compared,
    ``verdicts`` which side of a settled dispute is right, by both ids, the older first.
    """

    agreement: Agreement
    nearness: Nearness
    linkage: Linkage
    sweep: tuple[SweepPoint, ...]
    clusters: Clusters
    disputed: Flags | None
    measured: bool
    without: int = 0
    verdicts: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @cached_property
    def agents(self) -> Whole:
        """Distinct known agents behind each cluster."""
        return np.zeros(0, np.int64) if self.clusters.agents is None else self.clusters.agents

    @property
    def independent(self) -> Flags:
        """Which clusters two agents or more stand behind; the others repeat one agent, or name none."""
        return self.agents >= INDEPENDENT

    @property
    def independent_count(self) -> int:
        """Observations that are in such a cluster."""
        return int(self.clusters.size[self.independent].sum())

    @property
    def boost(self) -> Scores:
        """What every member of each cluster gains as the boost is documented: by the other members."""
        return corroboration_boost(self.clusters.corroboration_score, self.nearness.scale)

    @property
    def independent_boost(self) -> Scores:
        """What they would gain if only the other agents counted."""
        return corroboration_boost(np.maximum(self.agents - 1, 0), self.nearness.scale)

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of every observation."""
        return {id_: row for row, id_ in enumerate(self.agreement.ids)}

    def cluster_of(self, observation: str) -> int | None:
        """The cluster that holds an observation; None where it is in none, or not among the newest."""
        row = self.row_of.get(observation)
        number = -1 if row is None else int(self.clusters.cluster[row])
        return None if number < 0 else number

    def joins_at(self, observation: str) -> float | None:
        """The level at which an observation would be in a cluster; None where none that was looked at does."""
        row = self.row_of.get(observation)
        level = np.inf if row is None else float(self.linkage.first_levels()[row])
        return None if np.isinf(level) else level

    def verdict(self, row: int) -> str | None:
        """Whether triage found the older or the newer right where a member contradicts its canonical."""
        canonical = self.agreement.ids[int(self.clusters.canonical[int(self.clusters.cluster[row])])]
        return between(self.verdicts, self.agreement.ids[row], canonical)

    def settled(self, number: int) -> tuple[str, ...]:
        """The verdicts of a disputed cluster once each of its contradictions has one; none before."""
        rows = [row for row in self.clusters.members(number).tolist() if self.clusters.contradicts[row]]
        return settled(self.verdict(row) for row in rows)

    def members(self, number: int) -> list[int]:
        """The rows of a cluster: its canonical, then the others newest first."""
        canonical = int(self.clusters.canonical[number])
        return [canonical, *(row for row in self.clusters.members(number).tolist() if row != canonical)]

    def near_misses(self, number: int) -> list[int]:
        """Rows that one step of the threshold more would join to a cluster, directly or through others, newest."""
        further = self.linkage.groups_at(min(self.nearness.looser.level, self.linkage.most))
        mine = self.clusters.cluster == number
        joined = further == further[int(self.clusters.canonical[number])]
        return np.flatnonzero(joined & ~mine).tolist()

    def shares(self, log: LoggedCandidates) -> list[float | None]:
        """The share of retrievals with a candidate in a cluster, at every point of the sweep; nothing without a log."""
        if not log.retrievals:
            return [None] * len(self.sweep)
        levels = np.sort(log.first_levels(self.row_of, self.linkage.first_levels()))
        found = np.searchsorted(levels, [point.level for point in self.sweep], side="right")
        return [int(count) / log.retrievals for count in found]

    def boosted(self, log: LoggedCandidates) -> int:
        """Retrievals of the log in which some candidate would have a boost; none where a voice is worth nothing."""
        if not self.nearness.scale:
            return 0
        return int((log.first_levels(self.row_of, self.linkage.first_levels()) <= self.nearness.level).sum())


def clustered(
    agreement: Agreement,
    nearness: Nearness,
    disputes: Iterable[Sequence[Any]] | None = None,
    vectors: VectorLinks | None = None,
    widths: Widths | None = None,
) -> Clustered:
    """The clusters of an agreement as the sliders stand, by the library's own rules for canonical, agents and disputes.

    By embedding, ``vectors`` are the links; a diameter is only known where ``widths`` measured it.
    """
    known = set(agreement.ids)
    told = [Dispute(*each) for each in disputes or ()]
    pairs = [(one.older, one.newer) for one in told if one.older in known and one.newer in known]
    by_hash = nearness.method is Method.SIMHASH
    if not by_hash and vectors is None:
        raise ValueError("links of vectors are needed to cluster by embedding; found none")
    linkage, sweep = (agreement.linkage, agreement.sweep) if vectors is None or by_hash else vectors.aligned(agreement)
    clusters = cluster_near_duplicates(
        {
            "ids": list(agreement.ids),
            "created_at": agreement.created.view("datetime64[us]"),
            "agent_id": agreement.agent.listed(),
            "session_id": agreement.session.listed(),
            "weight": agreement.weight,
        },
        nearness.bits if by_hash else 0,
        method=nearness.method,
        cosine=nearness.cosine,
        disputes=pairs,
        limit=None,
        hashed=(agreement.hashes, agreement.tokens) if by_hash else None,
        linked=linkage,
    )
    measured = by_hash
    if not by_hash and widths is not None:
        clusters, measured = widths.put(clusters, nearness.cosine), True
    without = 0 if by_hash or vectors is None else vectors.without
    disputed = None if disputes is None else clusters.disputed
    return Clustered(agreement, nearness, linkage, sweep, clusters, disputed, measured, without, verdicts(told))


def cliff(sweep: Sequence[SweepPoint]) -> int | None:
    """The place in a sweep where chaining starts: the largest cluster doubles in one step, to twenty or more."""
    for place in range(1, len(sweep)):
        before, after = sweep[place - 1].largest, sweep[place].largest
        if after >= max(CROWD, CLIFF * before) and before:
            return place
    return None
