"""A search for contradictions as it travels between the worker and a page, and the tasks that make one."""

from __future__ import annotations

import json
from dataclasses import astuple, replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from analysis.drift.alerts import Listed, Opposed, Origin
from analysis.drift.search import Searched, search
from analysis.drift.sides import Voices
from queries.recorded import Recorded, recording
from ranking import Evidence
from ranking.contradictions import Kind
from ranking.contradictions.severity import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from analysis.drift.search import Report
    from queries.scope import Scope
    from retrieval.retrieve import Memory

MOST = 5_000  # alerts of a threshold that a page works with, the most severe; a report has them all


def search_in_worker(memory: Memory, scope: Scope, _params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """The worker's task ``drift``; what the parameters name is only there to tell one search from another."""
    with recording(memory.store) as asked:
        searched = search(memory.store, scope, report=report)
    return to_json(worst_of(replace(searched, asked=tuple(asked.asked())), MOST))


def whole_in_worker(memory: Memory, scope: Scope, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """The worker's task ``drift_whole``: every alert at one threshold, however many, for a report."""
    with recording(memory.store) as asked:
        searched = search(memory.store, scope, (float(params["threshold"]),), report=report)
    return to_json(replace(searched, asked=tuple(asked.asked())))


def worst_of(searched: Searched, most: int) -> Searched:
    """The same search with at most so many alerts of each threshold, the most severe; what it counts stays whole."""
    if max(searched.totals, default=0) <= most:
        return searched
    cut = replace(searched, worst=most)
    kept = {(one.fingerprint, one.least) for step in searched.steps for one in cut.at(step)}
    return replace(cut, found=tuple(one for one in searched.found if (one.fingerprint, one.least) in kept))


def to_json(searched: Searched) -> dict[str, Any]:
    """A search as JSON, each observation once however many alerts it is in."""
    sides = {side.id: side for one in searched.found for side in (one.older, one.newer)}
    numbers = {label: number for number, label in enumerate(sides)}
    return {
        "version": searched.version,
        "active": searched.active,
        "considered": searched.considered,
        "set_apart": searched.set_apart,
        "as_of": searched.as_of.isoformat(),
        "steps": searched.steps,
        "totals": searched.totals,
        "opposed": searched.opposed,
        "worst": searched.worst,
        "asked": [astuple(one) for one in searched.asked],
        "sides": [_side(side) for side in sides.values()],
        "against": [searched.against[label] for label in sides],
        "voices": [(numbers[label], known) for label, known in searched.voices.items() if label in numbers],
        "found": [_listed(one, numbers) for one in searched.found],
    }


def from_json(said: dict[str, Any]) -> Searched:
    """What ``to_json`` wrote."""
    sides = [_read_side(side) for side in said["sides"]]
    return Searched(
        said["version"],
        said["active"],
        said["considered"],
        said["set_apart"],
        datetime.fromisoformat(said["as_of"]),
        tuple(_read(one, sides) for one in said["found"]),
        tuple(said["steps"]),
        tuple(said["totals"]),
        {side.id: tuple(counts) for side, counts in zip(sides, said["against"], strict=True)},
        {sides[number].id: tuple(Voices(*each) for each in known) for number, known in said["voices"]},
        Opposed(*said["opposed"]),
        said["worst"],
        tuple(Recorded(*one) for one in said["asked"]),
    )


@lru_cache(maxsize=4)
def from_text(text: str) -> Searched:
    """The same from the worker's own words, read once for all who move a slider over it."""
    return from_json(json.loads(text))


def _side(side: Origin) -> tuple[Any, ...]:
    created = None if side.created_at is None else side.created_at.isoformat()
    return side.id, side.agent_id, side.session_id, created, side.weight, side.members, side.agents


def _read_side(said: list[Any]) -> Origin:
    label, agent, session, created, *rest = said
    at = None if created is None else datetime.fromisoformat(created)
    return Origin(label, agent, session, at, *rest)


def _listed(one: Listed, numbers: Mapping[str, int]) -> tuple[Any, ...]:
    parts = dict(one.parts)
    return (
        one.project_id,
        one.fingerprint,
        one.kind.value,
        one.rule,
        one.overlap,
        one.severity,
        [parts.get(name) for name in PARTS],
        one.evidence,
        numbers[one.older.id],
        numbers[one.newer.id],
        one.least,
        one.most,
    )


def _read(said: list[Any], sides: list[Origin]) -> Listed:
    project, fingerprint, kind, rule, overlap, severity, parts, evidence, older, newer, least, most = said
    return Listed(
        project,
        fingerprint,
        Kind(kind),
        rule,
        overlap,
        severity,
        _named(parts),
        tuple(Evidence(*word) for word in evidence),
        sides[older],
        sides[newer],
        least,
        most,
    )


def _named(parts: Iterable[float | None]) -> tuple[tuple[str, float], ...]:
    return tuple((name, value) for name, value in zip(PARTS, parts, strict=True) if value is not None)
