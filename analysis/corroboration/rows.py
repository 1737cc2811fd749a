"""Clusters and their members as rows: what tables list, charts count and files carry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from analysis.corroboration.agreement import NO_TIME

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analysis.corroboration.clustered import Clustered
    from analysis.corroboration.vectors import Places

BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
CELLS = 150  # of the map, each way


@dataclass(frozen=True)
class ClusterRow:
    """One cluster by its canonical's id; ``diameter`` and ``disputed`` are None where that is not known.

    ``kind`` is disputed, else independent or repeated: each cluster is one of them. ``settled`` are the verdicts of
    triage on a disputed one, once every contradiction in it has one.
    """

    number: int
    canonical: str
    kind: str
    size: int
    agents: int
    sessions: int
    diameter: float | None
    chained: bool
    disputed: bool | None
    others: int
    other_agents: int
    boost: float
    independent_boost: float
    settled: tuple[str, ...] = ()


@dataclass(frozen=True)
class MemberRow:
    """One observation, in a cluster (by its canonical's id) or in none."""

    id: str
    cluster: str | None
    canonical: bool
    contradicts: bool | None
    verdict: str | None
    project: str | None
    agent: str | None
    session: str | None
    created_at: datetime | None
    weight: float


def cluster_rows(view: Clustered) -> list[ClusterRow]:
    """Every cluster, those worth most first; of equals the one with more agents, then by id."""
    clusters, ids = view.clusters, view.agreement.ids
    sessions = np.zeros(len(clusters), np.int64) if clusters.sessions is None else clusters.sessions
    disputed = [None] * len(clusters) if view.disputed is None else view.disputed.tolist()
    rows = [
        ClusterRow(
            number=number,
            canonical=ids[canonical],
            kind="disputed" if quarrel else "independent" if independent else "repeated",
            size=size,
            agents=agents,
            sessions=heard,
            diameter=None if math.isnan(width) else width,
            chained=chained,
            disputed=quarrel,
            others=others,
            other_agents=max(agents - 1, 0),
            boost=boost,
            independent_boost=alone,
            settled=view.settled(number) if quarrel else (),
        )
        for number, (
            canonical, quarrel, independent, size, agents, heard, width, chained, others, boost, alone
        ) in enumerate(
            zip(
                clusters.canonical.tolist(), disputed, view.independent.tolist(), clusters.size.tolist(),
                view.agents.tolist(), sessions.tolist(), clusters.diameter.tolist(), clusters.chained.tolist(),
                clusters.corroboration_score.tolist(), view.boost.tolist(), view.independent_boost.tolist(),
                strict=True,
            )
        )
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (-row.boost, -row.agents, row.canonical))


def member_rows(view: Clustered, rows: Iterable[int]) -> list[MemberRow]:
    """Some observations, in the order given."""
    agreement, clusters = view.agreement, view.clusters
    found = []
    for row in rows:
        number = int(clusters.cluster[row])
        canonical = None if number < 0 else int(clusters.canonical[number])
        found.append(
            MemberRow(
                id=agreement.ids[row],
                cluster=None if canonical is None else agreement.ids[canonical],
                canonical=canonical == row,
                contradicts=None if view.disputed is None else bool(clusters.contradicts[row]),
                verdict=view.verdict(row) if number >= 0 and clusters.contradicts[row] else None,
                project=agreement.project.name(row),
                agent=agreement.agent.name(row),
                session=agreement.session.name(row),
                created_at=moment(int(agreement.created[row])),
                weight=float(agreement.weight[row]),
            )
        )
    return found


def moment(microseconds: int) -> datetime | None:
    """A time as it is shown; none where the store holds one that no calendar has."""
    return None if microseconds == NO_TIME else BEGIN + timedelta(microseconds=microseconds)


@dataclass(frozen=True)
class Mark:
    """Members of one cluster that lie in one place of the map."""

    x: float
    y: float
    count: int
    kind: str
    cluster: str


def marks(view: Clustered, places: Places, rows: Iterable[ClusterRow], most: int) -> list[Mark]:
    """Where the members of the given clusters lie, those in one cell of the map together; the first so many."""
    row_of = {row.number: row for row in rows}
    here = np.array([view.row_of.get(id_, -1) for id_ in places.ids], np.int64)
    number = np.where(here >= 0, view.clusters.cluster[here], -1) if len(here) else here
    found: dict[tuple[int, int, int], list[int]] = {}
    for at in np.flatnonzero(np.isin(number, list(row_of))).tolist():
        cell = (int(number[at]), int(places.x[at] * CELLS), int(places.y[at] * CELLS))
        found.setdefault(cell, []).append(at)
    order = {each: place for place, each in enumerate(row_of)}
    drawn = sorted(found.items(), key=lambda item: (order[item[0][0]], -len(item[1]), item[0]))[:most]
    return [
        Mark(
            float(places.x[members].mean()),
            float(places.y[members].mean()),
            len(members),
            row_of[key[0]].kind,
            row_of[key[0]].canonical,
        )
        for key, members in drawn
    ]


def alone(view: Clustered, places: Places) -> tuple[list[float], list[float]]:
    """The places of the observations that are in no cluster."""
    here = np.array([view.row_of.get(id_, -1) for id_ in places.ids], np.int64)
    free = (here >= 0) & (view.clusters.cluster[here] < 0) if len(here) else np.zeros(0, np.bool_)
    return places.x[free].tolist(), places.y[free].tolist()
