"""A search for contradictions: a scope's newest observations in, every pair that conflicts at the lowest threshold out.

Whoever then asks for a higher threshold gets what a search at that threshold finds, without another one.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import isfinite, nextafter
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.alerts import Listed, Origin
from queries.aggregation_input import READING, OppositionPairs
from queries.drift.observed import InputVersion, NewestObserved
from ranking import DEFAULT_PAIRS, cluster_near_duplicates, detect_contradictions
from ranking.contradictions.claims import claims_of
from ranking.contradictions.severity import Severity, frequency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from queries.drift.observed import ObservedRow
    from queries.engine import Store
    from queries.scope import Scope
    from ranking import Contradiction

    Report = Callable[[int, int, str], None]
    Pairs = Sequence[tuple[str, str]]

LOWEST = 0.3  # where the slider begins: below it two sentences share a word by chance
PARTS = ("recency", "domain", "frequency", "gap")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_DATE = np.iinfo(np.int64).min  # what NaT is


@dataclass(frozen=True)
class Searched:
    """Every conflict from the lowest threshold up, and what it was looked for in."""

    version: str
    active: int
    considered: int
    set_apart: int
    as_of: datetime
    found: tuple[Listed, ...]

    def at(self, threshold: float) -> tuple[Listed, ...]:
        """What a search at this threshold finds; how many stand on each side is counted among those alone."""
        kept: dict[tuple[str, str], Listed] = {}
        for one in self.found:
            if one.overlap >= threshold:
                kept.setdefault((one.older.id, one.newer.id), one)
        against: dict[str, set[str]] = defaultdict(set)
        for older, newer in kept:
            against[older].add(newer)
            against[newer].add(older)
        standing = {ids: len(against[ids[0]]) + len(against[ids[1]]) for ids in kept}
        return tuple(_weighed(one, standing[ids]) for ids, one in kept.items())


def search(store: Store, scope: Scope, *, now: datetime | None = None, report: Report | None = None) -> Searched:
    """Search the newest 10 000 active observations of an organization, each project for itself.

    Two projects may well disagree about a port, so statements meet only inside one, as in an aggregation pass.
    Severity ages by whole days: a link or a report made twice on one day says the same.
    """
    tell = report or (lambda _done, _total, _words: None)
    if scope.org is None:
        raise ValueError("expected a scope of one organization, found all of them")
    tell(0, 1, "reading observations")
    with store.reading(scope.reach, READING, name="drift") as snapshot:
        seen = InputVersion(scope).ask(snapshot)
        pairs = OppositionPairs(scope.org).ask(snapshot) or DEFAULT_PAIRS
        rows = NewestObserved(scope).ask(snapshot)
    day = (now or seen.now).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    projects: dict[str | None, list[ObservedRow]] = defaultdict(list)
    for row in rows:
        # A weight that is no number would be compared with every other: such a row is left out, and counted.
        if isfinite(row.weight):
            projects[row.project_id].append(row)
    found: list[Listed] = []
    for place, members in enumerate(projects.values()):
        tell(place + 1, len(projects) + 1, f"comparing statements of project {place + 1} of {len(projects)}")
        found += _conflicts(members, pairs, np.datetime64(day, "us"))
    sound = sum(map(len, projects.values()))
    return Searched(seen.version, seen.active, len(rows), len(rows) - sound, seen.now, tuple(found))


def _conflicts(rows: list[ObservedRow], pairs: Pairs, now: np.datetime64) -> Iterator[Listed]:
    """The conflicts of one project, each pair's in the order in which rising thresholds would find them."""
    columns = _columns(rows)
    detected = detect_contradictions(columns, LOWEST, pairs, now=now)
    if not detected:
        return
    places = {row.id: place for place, row in enumerate(rows)}
    clusters = cluster_near_duplicates(columns)
    agents = clusters.agents

    def origin(label: str) -> Origin:
        row, number = rows[places[label]], int(clusters.cluster[places[label]])
        alone = number < 0 or agents is None
        return Origin(
            row.id,
            row.agent_id,
            row.session_id,
            None if row.created_us is None else _EPOCH + timedelta(microseconds=row.created_us),
            row.weight,
            1 if alone else int(clusters.size[number]),
            1 if alone or agents is None else int(agents[number]),
        )

    for first in detected:
        sides = [rows[places[label]] for label in first.ids]
        for conflict in (first, *_closer(first, sides, pairs, now)):
            yield Listed(
                sides[0].project_id,
                conflict.fingerprint,
                conflict.kind,
                conflict.rule,
                conflict.overlap,
                conflict.severity,
                _parts(conflict.parts),
                conflict.evidence,
                origin(conflict.older),
                origin(conflict.newer),
            )


def _closer(
    first: Contradiction, sides: list[ObservedRow], pairs: Pairs, now: np.datetime64
) -> Iterator[Contradiction]:
    """Further conflicts between the same two texts, of claims that share more words than the first found did."""
    if all(len(claims_of(side.content)) < 2 for side in sides):  # noqa: PLR2004 - one claim each, one conflict
        return
    columns, overlap = _columns(sides), first.overlap
    while overlap < 1.0:
        again = detect_contradictions(columns, nextafter(overlap, 1.0), pairs, now=now)
        if not again:
            return
        overlap = again[0].overlap
        yield again[0]


def _parts(parts: Severity) -> tuple[tuple[str, float], ...]:
    named = ((name, getattr(parts, name)) for name in PARTS)
    return tuple((name, float(value)) for name, value in named if value is not None)


def _weighed(one: Listed, standing: int) -> Listed:
    known = dict(one.parts) | {"frequency": frequency(standing)}
    parts = Severity(known.get("recency"), known["domain"], known["frequency"], known["gap"])
    return replace(one, severity=parts.score, parts=_parts(parts))


def _columns(rows: Sequence[ObservedRow]) -> dict[str, Any]:
    """Rows as the aligned columns that the library takes."""
    created = np.array([_NO_DATE if row.created_us is None else row.created_us for row in rows], np.int64)
    return {
        "ids": [row.id for row in rows],
        "content": [row.content for row in rows],
        "created_at": created.view("datetime64[us]"),
        "agent_id": [row.agent_id for row in rows],
        "session_id": [row.session_id for row in rows],
        "weight": np.array([row.weight for row in rows], np.float64),
    }
