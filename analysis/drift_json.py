"""A search for contradictions as it travels between the worker and a page, and the task that makes it."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from analysis.alerts import Listed, Origin
from analysis.drift_search import Searched, search
from ranking import Evidence
from ranking.contradictions import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analysis.drift_search import Report
    from queries.scope import Scope
    from retrieval.retrieve import Memory

MOST = 5_000  # alerts a page works with, the most severe; a report has them all


def search_in_worker(memory: Memory, scope: Scope, _params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """The worker's task ``drift``; what the parameters name is only there to tell one search from another."""
    return to_json(search(memory.store, scope, report=report))


def to_json(searched: Searched) -> dict[str, Any]:
    """A search as JSON, of very many alerts the most severe."""
    worst = sorted(searched.found, key=lambda one: -one.severity)[:MOST]
    kept = {id(one) for one in worst}
    return {
        "version": searched.version,
        "active": searched.active,
        "considered": searched.considered,
        "set_apart": searched.set_apart,
        "as_of": searched.as_of.isoformat(),
        "found": [_listed(one) for one in searched.found if id(one) in kept],
        "left_out": len(searched.found) - len(worst),
    }


def from_json(said: dict[str, Any]) -> tuple[Searched, int]:
    """What ``to_json`` wrote, and how many alerts it left out."""
    searched = Searched(
        said["version"],
        said["active"],
        said["considered"],
        said["set_apart"],
        datetime.fromisoformat(said["as_of"]),
        tuple(_read(one) for one in said["found"]),
    )
    return searched, said["left_out"]


def _listed(one: Listed) -> dict[str, Any]:
    return {
        "project": one.project_id,
        "fingerprint": one.fingerprint,
        "kind": one.kind.value,
        "rule": one.rule,
        "overlap": one.overlap,
        "thresholds": [one.least, one.most],
        "severity": one.severity,
        "parts": list(one.parts),
        "evidence": [list(word) for word in one.evidence],
        "older": _origin(one.older),
        "newer": _origin(one.newer),
    }


def _origin(side: Origin) -> dict[str, Any]:
    created = None if side.created_at is None else side.created_at.isoformat()
    return asdict(side) | {"created_at": created}


def _read(said: dict[str, Any]) -> Listed:
    return Listed(
        said["project"],
        said["fingerprint"],
        Kind(said["kind"]),
        said["rule"],
        said["overlap"],
        said["severity"],
        tuple((name, value) for name, value in said["parts"]),
        tuple(Evidence(*word) for word in said["evidence"]),
        _side(said["older"]),
        _side(said["newer"]),
        *said["thresholds"],
    )


def _side(said: dict[str, Any]) -> Origin:
    created = said["created_at"]
    return Origin(**{**said, "created_at": None if created is None else datetime.fromisoformat(created)})
