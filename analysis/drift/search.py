"""A search for contradictions: a scope's newest observations in, every pair that conflicts at a threshold out.

Asked for several thresholds, it looks at everything for the lowest, and for each further one at what that found.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import isfinite
from sys import intern
from typing import TYPE_CHECKING

import numpy as np

from analysis.drift.alerts import Listed, Opposed, Origin
from analysis.drift.sides import voices
from analysis.observed_columns import observed_columns
from queries.aggregation_input import READING, OppositionPairs
from queries.drift.observed import InputVersion, NewestObserved
from queries.drift.opposing import digest
from queries.shape import keeps
from ranking import DEFAULT_PAIRS, cluster_near_duplicates, detect_contradictions
from ranking.contradictions.classifying import conflict_between
from ranking.contradictions.opposition import compiled
from ranking.contradictions.severity import PARTS, Severity, frequency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from analysis.drift.sides import Voices
    from queries.drift.observed import ObservedRow
    from queries.engine import Store
    from queries.recorded import Recorded
    from queries.scope import Scope
    from ranking import Contradiction
    from ranking.contradictions.conflicts import Conflict
    from ranking.contradictions.opposition import Oppositions

    Report = Callable[[int, int, str], None]
    Pairs = Sequence[tuple[str, str]]

# the slider's; below the first, two sentences share a word by chance
STEPS = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Searched:
    """Every conflict at the thresholds that were asked for, and what it was looked for in.

    ``totals`` and ``against`` say by threshold how many alerts there are and with how many others an observation is
    in conflict, ``voices`` who stands with it where its cluster does not stand together. They are of the whole search,
    also where only its ``worst`` alerts of each threshold are ``found``.
    """

    version: str
    active: int
    considered: int
    set_apart: int
    as_of: datetime
    found: tuple[Listed, ...]
    steps: tuple[float, ...]
    totals: tuple[int, ...]
    against: Mapping[str, tuple[int, ...]] = field(repr=False)
    voices: Mapping[str, tuple[Voices, ...]] = field(repr=False)
    opposed: Opposed
    worst: int | None = None
    asked: tuple[Recorded, ...] = field(default=(), repr=False)  # the SQL behind it, where someone kept it

    def at(self, threshold: float) -> tuple[Listed, ...]:
        """What a search at this threshold finds; how many stand on each side is counted among those alone."""
        place, against = self._place(threshold), self.against
        sides: dict[str, Origin] = {}  # each once, however many alerts it is in
        found = tuple(
            _weighed(self._sided(one, place, sides), against[one.older.id][place] + against[one.newer.id][place])
            for one in self.found
            if one.least <= threshold <= one.most
        )
        if self.worst is None or len(found) <= self.worst:
            return found
        return tuple(sorted(found, key=lambda one: (-one.severity, one.fingerprint))[: self.worst])

    def total(self, threshold: float) -> int:
        """How many alerts there are at this threshold, whether or not all of them are here."""
        return self.totals[self._place(threshold)]

    @property
    def agents(self) -> frozenset[str]:
        """Whoever wrote a side of any of them."""
        sides = (side for one in self.found for side in (one.older, one.newer))
        return frozenset(side.agent_id for side in sides if side.agent_id)

    def _sided(self, one: Listed, place: int, sides: dict[str, Origin]) -> Listed:
        if one.older.id not in self.voices and one.newer.id not in self.voices:
            return one
        for side in (one.older, one.newer):
            if side.id not in sides:
                known = self.voices.get(side.id)
                sides[side.id] = side if known is None else replace(side, **known[place]._asdict())
        return replace(one, older=sides[one.older.id], newer=sides[one.newer.id])

    def _place(self, threshold: float) -> int:
        return max(bisect_right(self.steps, threshold) - 1, 0)


def search(
    store: Store,
    scope: Scope,
    thresholds: Sequence[float] = STEPS,
    *,
    now: datetime | None = None,
    report: Report | None = None,
) -> Searched:
    """Search the newest 10 000 active observations of an organization, each project for itself.

    Two projects may well disagree about a port, so statements meet only inside one, as in an aggregation pass.
    Severity ages by whole days: a link or a report made twice on one day says the same.
    """
    tell = report or (lambda _done, _total, _words: None)
    if scope.org is None:
        raise ValueError("expected a scope of one organization, found all of them")
    tell(0, 1, "reading observations")
    with store.reading(scope.reach, READING, name="drift") as snapshot:
        paired = keeps(snapshot, "opposition_pairs")
        seen = InputVersion(scope, paired).ask(snapshot)
        own = OppositionPairs(scope.org).ask(snapshot) if paired else ()
        rows = NewestObserved(scope).ask(snapshot)
    day = (now or seen.now).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    pairs = own or DEFAULT_PAIRS
    projects: dict[str | None, list[ObservedRow]] = defaultdict(list)
    for row in rows:
        # A weight that is no number would be compared with every other: such a row is left out, and counted.
        if isfinite(row.weight):
            projects[row.project_id].append(row)
    found: list[Listed] = []
    clustered: dict[str, tuple[int, int]] = {}
    for place, members in enumerate(projects.values()):
        tell(place + 1, len(projects) + 1, f"comparing statements of project {place + 1} of {len(projects)}")
        found += _conflicts(members, thresholds, pairs, np.datetime64(day, "us"), (place, clustered))
    sound = sum(map(len, projects.values()))
    steps = tuple(sorted(thresholds))
    return Searched(
        seen.version,
        seen.active,
        len(rows),
        len(rows) - sound,
        seen.now,
        tuple(found),
        steps,
        *counted(found, steps),
        voices(found, clustered, steps),
        Opposed(digest(pairs), len(pairs), not own),
    )


def counted(found: Iterable[Listed], steps: Sequence[float]) -> tuple[tuple[int, ...], dict[str, tuple[int, ...]]]:
    """By threshold, how many alerts there are, and with how many others each observation is in conflict."""
    totals = [0] * len(steps)
    against: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(steps))
    for one in found:
        older, newer = against[one.older.id], against[one.newer.id]
        for place in range(bisect_left(steps, one.least), bisect_right(steps, one.most)):
            totals[place] += 1
            older[place] += 1
            newer[place] += 1
    return tuple(totals), {label: tuple(counts) for label, counts in against.items()}


def _conflicts(
    rows: list[ObservedRow],
    thresholds: Sequence[float],
    pairs: Pairs,
    now: np.datetime64,
    clustered: tuple[int, dict[str, tuple[int, int]]],
) -> Iterator[Listed]:
    """The conflicts of one project, each with the lowest and highest threshold at which it is found as it is.

    The clusters that its sides are in are written down, under the project's number.
    """
    steps = sorted(thresholds)
    detected = detect_contradictions(observed_columns(rows), steps[0], pairs, now=now)
    if not detected:
        return
    by_id, oppositions = {row.id: row for row in rows}, compiled(pairs)
    origins = _origins(rows, {label for one in detected for label in one.ids}, *clustered)
    detected.reverse()
    while detected:
        one = detected.pop()  # two lists of them would be in memory otherwise
        for found, least, most in _rising(one, steps, [by_id[label] for label in one.ids], oppositions):
            if found is not None:
                yield _listed(found, least, most, rows[0].project_id, origins)
                continue
            again = detect_contradictions(observed_columns([by_id[label] for label in one.ids]), least, pairs, now=now)
            yield from (_listed(another, least, most, rows[0].project_id, origins) for another in again)


def _rising(
    first: Contradiction, steps: Sequence[float], sides: list[ObservedRow], oppositions: Oppositions
) -> Iterator[tuple[Contradiction | None, float, float]]:
    """What rising thresholds find between two texts, from and up to which: the first, or None for another conflict.

    A threshold only ever takes conflicts away, the first that is left being told: what a lower and a higher one find
    alike, all between them find.
    """
    if len(steps) == 1:
        yield first, steps[0], steps[0]  # as it was found; there is no other to be judged by
        return
    older, newer = (side.content for side in sides)
    judged: dict[int, Conflict | None] = {}

    def at(place: int) -> Conflict | None:
        if place not in judged:
            judged[place] = conflict_between(older, newer, oppositions, steps[place])
        return judged[place]

    stretches: list[tuple[int, int]] = []
    for low, high in _alike(at, 0, len(steps) - 1):
        if stretches and at(stretches[-1][1]) == at(low):
            low, _ = stretches.pop()  # noqa: PLW2901 - one stretch that was cut in two
        stretches.append((low, high))
    for low, high in stretches:
        if at(low) is None:
            return
        yield first if low == 0 else None, steps[low], steps[high]


def _alike(at: Callable[[int], Conflict | None], low: int, high: int) -> Iterator[tuple[int, int]]:
    """Places in order, cut wherever both ends are not alike."""
    if at(low) == at(high):
        yield low, high
        return
    middle = (low + high) // 2
    yield from _alike(at, low, middle)
    yield from _alike(at, middle + 1, high)


def _listed(found: Contradiction, least: float, most: float, project: str | None, origins: dict[str, Origin]) -> Listed:
    return Listed(
        project,
        found.fingerprint,
        found.kind,
        intern(found.rule),
        found.overlap,
        found.severity,
        _parts(found.parts),
        found.evidence,
        origins[found.older],
        origins[found.newer],
        least,
        most,
    )


def _origins(
    rows: list[ObservedRow], wanted: set[str], project: int, clustered: dict[str, tuple[int, int]]
) -> dict[str, Origin]:
    """Where statements came from, and how many of their project say nearly the same, whichever side they are on."""
    clusters = cluster_near_duplicates(observed_columns(rows), disputes=())
    found = {}
    for row, number in zip(rows, clusters.cluster.tolist(), strict=True):
        if row.id in wanted:
            alone = number < 0 or clusters.agents is None
            if not alone:
                clustered[row.id] = (project, number)
            found[row.id] = Origin(
                row.id,
                row.agent_id,
                row.session_id,
                None if row.created_us is None else EPOCH + timedelta(microseconds=row.created_us),
                row.weight,
                1 if alone else int(clusters.size[number]),
                1 if alone or clusters.agents is None else int(clusters.agents[number]),
            )
    return found


@lru_cache(maxsize=1 << 12)  # most alerts share theirs with others, and so the memory
def _parts(parts: Severity) -> tuple[tuple[str, float], ...]:
    named = ((name, getattr(parts, name)) for name in PARTS)
    return tuple((name, float(value)) for name, value in named if value is not None)


def _weighed(one: Listed, standing: int) -> Listed:
    known = dict(one.parts) | {"frequency": frequency(standing)}
    parts = Severity(known.get("recency"), known["domain"], known["frequency"], known["gap"])
    weighed = _parts(parts)
    return one if weighed == one.parts else replace(one, severity=parts.score, parts=weighed)
