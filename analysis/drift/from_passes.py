"""The aggregation job's findings as a search at their threshold: figures at once, while all thresholds are searched."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from analysis.drift.alerts import Listed, Opposed, Origin
from analysis.drift.search import EPOCH, STEPS, Searched, counted
from analysis.drift.sides import voices
from analysis.drift.tasks import MOST
from queries.aggregation_input import LIMIT, LONGEST, READING, OppositionPairs
from queries.drift.kept import kept
from queries.drift.observed import InputVersion, Texts
from queries.drift.opposing import digest
from queries.drift.passes import ClusterSizes, PassAlerts, SetApart, Sides, current_runs
from queries.engine import LIST
from queries.moments import BEGIN, END
from queries.scope import Reach, Scope
from queries.shape import columns
from ranking import DEFAULT_PAIRS, Evidence
from ranking.contradictions import Kind
from ranking.contradictions.classifying import THRESHOLD, conflict_between
from ranking.contradictions.opposition import compiled
from ranking.contradictions.severity import PARTS

if TYPE_CHECKING:
    from queries.drift.passes import ClusterSizeRow, PassAlertRow, SideRow
    from queries.engine import Store


def search_of_passes(store: Store, scope: Scope) -> Searched | None:
    """What a search at the documented threshold finds, read from the passes that found it already.

    None where the data have changed since a pass, a pass is missing, or a search would read fewer observations than
    the passes did: each of them reads a project's newest, a search those of the organization.
    """
    if scope.org is None:
        raise ValueError("expected a scope of one organization, found all of them")
    with store.reading(scope.reach, READING, name="drift standing") as snapshot:
        if not kept(columns(snapshot, "rankscope")).passes:
            return None
        runs = current_runs(snapshot, scope)
        if runs is None:
            return None
        seen = InputVersion(scope).ask(snapshot)
        rows = PassAlerts(scope.org, runs).ask(snapshot)
        if seen.active > LIMIT or len(rows) > MOST:
            return None
        ids = tuple(sorted({label for row in rows for label in (row.older, row.newer)}))
        sizes = ClusterSizes(scope.org, runs).ask(snapshot)
        sides = {side.id: _origin(side, sizes.get(side.id)) for side in Sides(scope.org, ids).ask(snapshot)}
        own = OppositionPairs(scope.org).ask(snapshot)
        set_apart = SetApart(scope.org, runs).ask(snapshot)
    found = tuple(_listed(row, sides) for row in rows)
    pairs, steps = own or DEFAULT_PAIRS, (THRESHOLD,)
    return Searched(
        seen.version,
        seen.active,
        seen.active,
        set_apart,
        seen.now,
        found,
        steps,
        *counted(found, steps),
        voices(found, {label: (size.run, size.cluster) for label, size in sizes.items()}, steps),
        Opposed(digest(pairs), len(pairs), not own),
    )


def found_up_to(store: Store, org: str, one: Listed) -> float:
    """The highest threshold at which an alert is found as it is, where only one threshold was searched."""
    scope = Scope(Reach((org,)), BEGIN, END, org)
    with store.reading(scope.reach, LIST, name="drift threshold") as snapshot:
        texts = Texts(scope, (one.older.id, one.newer.id), LONGEST).ask(snapshot)
        own = OppositionPairs(org).ask(snapshot)
    if len(texts) != len({one.older.id, one.newer.id}):
        return one.most
    older, newer = texts[one.older.id].content, texts[one.newer.id].content
    oppositions, most = compiled(own or DEFAULT_PAIRS), one.most
    first = conflict_between(older, newer, oppositions, one.most)
    for threshold in STEPS:
        if threshold > most:
            if first is None or conflict_between(older, newer, oppositions, threshold) != first:
                break
            most = threshold
    return most


def _origin(side: SideRow, size: ClusterSizeRow | None) -> Origin:
    created = None if side.created_us is None else EPOCH + timedelta(microseconds=side.created_us)
    members, agents = (1, 1) if size is None else (size.members, size.agents)
    return Origin(side.id, side.agent_id, side.session_id, created, side.weight, members, agents)


def _listed(row: PassAlertRow, sides: dict[str, Origin]) -> Listed:
    return Listed(
        row.project_id,
        row.fingerprint,
        Kind(row.kind),
        row.rule,
        row.overlap,
        row.severity,
        tuple((name, row.parts[name]) for name in PARTS if row.parts.get(name) is not None),
        tuple(Evidence(word["side"], word["text"], word["start"], word["end"]) for word in row.evidence),
        sides[row.older],
        sides[row.newer],
        THRESHOLD,
        THRESHOLD,
    )
