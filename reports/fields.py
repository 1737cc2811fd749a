"""An alert as columns and as an object: the same names in every format that a program reads."""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.drift.alerts import Alert, Side

SIDE = (
    "id",
    "agent_id",
    "session_id",
    "created_at",
    "weight",
    "members",
    "agents",
    "injected",
    "content_hash",
    "content",
)
TRIAGE = ("state", "verdict", "owner", "note", "snoozed_until", "version", "changed_by", "changed_at")
COLUMNS = (
    "org_id",
    "project_id",
    "fingerprint",
    "kind",
    "rule",
    "overlap",
    "severity",
    "severity_parts",
    "harm",
    "both_injected",
    *(f"triage_{name}" for name in TRIAGE),
    *(f"older_{name}" for name in SIDE),
    *(f"newer_{name}" for name in SIDE),
    "evidence",
)


def as_object(alert: Alert) -> dict[str, Any]:
    """An alert as JSON has it, complete; a number that is none is null."""
    return {
        "org_id": alert.org_id,
        "project_id": alert.project_id,
        "fingerprint": alert.fingerprint,
        "kind": str(alert.kind),
        "rule": alert.rule,
        "overlap": number(alert.overlap),
        "severity": number(alert.severity),
        "severity_parts": {name: number(value) for name, value in alert.parts},
        "harm": number(alert.harm),
        "both_injected": alert.both_injected,
        "triage": {name: _plain(getattr(alert.triage, name)) for name in TRIAGE},
        "older": _side(alert.older),
        "newer": _side(alert.newer),
        "evidence": [evidence._asdict() for evidence in alert.evidence],
    }


def as_row(alert: Alert) -> list[object]:
    """An alert as one row under ``COLUMNS``; what has an inner structure stands as JSON in its cell."""
    told = as_object(alert)
    nested = {"triage": TRIAGE, "older": SIDE, "newer": SIDE}
    row: list[object] = []
    for name, value in told.items():
        if name in nested:
            row += [value[inner] for inner in nested[name]]
        else:
            row.append(compact(value) if isinstance(value, dict | list) else value)
    return row


def compact(value: object) -> str:
    """JSON without blanks, letters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def number(value: float | None) -> float | None:
    """A number that JSON can hold."""
    return value if value is not None and math.isfinite(value) else None


def encoded(text: str) -> bytes:
    """Text as bytes: half a surrogate pair has none in UTF-8, but an escape that JSON also knows."""
    return text.encode("utf-8", "backslashreplace")


def _side(side: Side) -> dict[str, object]:
    return {name: _plain(getattr(side, name)) for name in SIDE}


def _plain(value: object) -> object:
    if isinstance(value, str | None):
        return value
    if isinstance(value, float):
        return number(value)
    return value.isoformat() if isinstance(value, datetime) else value
