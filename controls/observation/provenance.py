"""Where an observation came from and how it is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from controls.facts import in_two_columns

if TYPE_CHECKING:
    from controls.dossier import Dossier


def provenance(found: Dossier) -> None:
    """Where it came from and how it is stored, field by field, as text."""
    record = found.record
    routes = [
        f"{route} ({size})" for route, size in zip(found.vectors["route"], found.vectors["dimensions"], strict=True)
    ]
    digits = f"{found.fingerprint.simhash % 2**64:016x}" if found.fingerprint.tokens else "no words to hash"
    fields = {
        "organization": f"{record['org_name']} · {record['org_id']}",
        "project": record["project_id"],
        "agent": record["agent_id"],
        "session": record["session_id"],
        "session's outcome": record["session_outcome"],
        "kind": record["kind"],
        "reflection depth": record["reflection_depth"],
        "granularity": record["granularity"],
        "source": record["source"],
        "status": record["status"],
        "id": record["id"],
        "created": _moment(record["created_at"]),
        "last accessed": _moment(record["last_accessed_at"]),
        "tags": ", ".join(record["tags"]) if record["tags"] else None,
        "task tag": record["task_tag"],
        "importance": record["importance"],
        "memory score": record["memory_score"],
        "weight": record["weight"],
        "content hash": record["content_hash"],
        "SimHash": digits,
        "vectors": ", ".join(routes) or "none: no vector route can find it",
    }
    in_two_columns("field", fields, 120)


def _moment(at: Any) -> str | None:  # noqa: ANN401 - a Timestamp or pandas' own nothing
    return None if pd.isna(at) else f"{at:%Y-%m-%d %H:%M:%S} UTC"
