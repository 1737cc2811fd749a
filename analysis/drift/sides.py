"""How many stand on each side of a contradiction: near in words is not agreement, so both sides can be one cluster."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from analysis.drift.alerts import Listed, Origin

    Clustered = Mapping[str, Hashable]


class Voices(NamedTuple):
    """How many observations say what one says, itself among them, and how many agents."""

    members: int
    agents: int


def voices(found: Sequence[Listed], clustered: Clustered, steps: Sequence[float]) -> dict[str, tuple[Voices, ...]]:
    """By threshold, who stands with each side whose cluster holds a contradiction; elsewhere the whole cluster does.

    In such a cluster, as in severity's count, those stand together that contradict the same and not each other. Whom
    nothing puts on a side, as whoever contradicts one of those, is on none: what is not known is not counted.
    """
    inner: list[Listed] = []
    cut = set()
    for one in found:
        if _within(one, clustered):
            cut.add(clustered[one.older.id])
            inner.append(one)
    if not cut:
        return {}
    near = [one for one in found if clustered.get(one.older.id) in cut or clustered.get(one.newer.id) in cut]
    origins = {side.id: side for one in near for side in (one.older, one.newer) if clustered.get(side.id) in cut}
    told: dict[str, list[Voices]] = {
        label: [Voices(side.members, side.agents)] * len(steps) for label, side in origins.items()
    }
    for place, step in enumerate(steps):
        for label, known in _at(step, near, inner, origins, clustered):
            told[label][place] = known
    return {label: tuple(each) for label, each in told.items()}


def _within(one: Listed, clustered: Clustered) -> bool:
    mine = clustered.get(one.older.id)
    return mine is not None and mine == clustered.get(one.newer.id)


def _at(
    step: float, near: list[Listed], inner: list[Listed], origins: Mapping[str, Origin], clustered: Clustered
) -> Iterator[tuple[str, Voices]]:
    """Who stands with whom at one threshold, in the clusters that hold a contradiction there."""
    opponents: defaultdict[str, set[str]] = defaultdict(set)
    for one in near:
        if one.least <= step <= one.most:
            opponents[one.older.id].add(one.newer.id)
            opponents[one.newer.id].add(one.older.id)
    cut = {clustered[one.older.id] for one in inner if one.least <= step <= one.most}
    clusters: defaultdict[Hashable, list[str]] = defaultdict(list)
    for label in opponents:
        if clustered.get(label) in cut:
            clusters[clustered[label]].append(label)
    for members in clusters.values():
        yield from _of_cluster(members, opponents, origins)


def _of_cluster(
    members: list[str], opponents: Mapping[str, set[str]], origins: Mapping[str, Origin]
) -> Iterator[tuple[str, Voices]]:
    # who contradicts exactly the same stands alike: there are few such camps, however many the members
    against = {label: tuple(sorted(opponents[label])) for label in members}
    camps = [list(camp) for _, camp in groupby(sorted(members, key=against.__getitem__), key=against.__getitem__)]
    for mine in camps:
        foes = opponents[mine[0]]
        beside = [camp for camp in camps if camp[0] not in foes and not foes.isdisjoint(opponents[camp[0]])]
        first = {camp[0] for camp in beside}
        together = [label for camp in beside if camp is mine or first.isdisjoint(opponents[camp[0]]) for label in camp]
        named = {origins[label].agent_id for label in together} - {None}
        known = Voices(len(together), 1 if len(together) == 1 else len(named))
        yield from ((label, known) for label in mine)
