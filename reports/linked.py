"""Alerts as linked data: provenance in W3C PROV's words, evidence in those of Web Annotation."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote
from uuid import UUID

from reports.fields import as_object

if TYPE_CHECKING:
    from analysis.drift.alerts import Alert
    from reports.about import About

OURS = "urn:rankscope:"


def _ours(name: str, kind: str | None = None) -> str | dict[str, str]:
    return f"{OURS}{name}" if kind is None else {"@id": f"{OURS}{name}", "@type": f"xsd:{kind}"}


CONTEXT: dict[str, object] = {
    "@version": 1.1,
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "prov": "http://www.w3.org/ns/prov#",
    "oa": "http://www.w3.org/ns/oa#",
    "dcterms": "http://purl.org/dc/terms/",
    "id": "@id",
    "type": "@type",
    "DriftReport": _ours("DriftReport"),
    "Contradiction": _ours("Contradiction"),
    "Observation": "prov:Entity",
    "TextPositionSelector": "oa:TextPositionSelector",
    "alerts": {"@id": "dcterms:hasPart", "@container": "@list"},
    "as_of": {"@id": "dcterms:date", "@type": "xsd:date"},
    "data_version": "dcterms:hasVersion",
    "permalink": "dcterms:source",
    # what was chosen is a record of this program, not a statement about the world
    "parameters": {"@id": f"{OURS}parameters", "@type": "@json"},
    "observations": {"@id": f"{OURS}observations", "@type": "@json"},
    "opposition_pairs": {"@id": f"{OURS}opposition_pairs", "@type": "@json"},
    "report": "dcterms:title",
    "format_version": _ours("format_version"),
    "detected": _ours("detected"),
    "count": _ours("count"),
    "org_id": _ours("organization"),
    "project_id": _ours("project"),
    "fingerprint": "dcterms:identifier",
    "kind": _ours("kind"),
    "rule": _ours("rule"),
    "overlap": _ours("overlap", "double"),
    "severity": _ours("severity", "double"),
    "severity_parts": {"@id": f"{OURS}severity_parts", "@type": "@json"},
    "harm": _ours("harm", "double"),
    "both_injected": _ours("both_injected"),
    "triage": {"@id": f"{OURS}triage", "@type": "@json"},
    "older": _ours("older"),
    "newer": _ours("newer"),
    "observation_id": "dcterms:identifier",
    "agent_id": _ours("agent"),
    "session_id": _ours("session"),
    "created_at": {"@id": "prov:generatedAtTime", "@type": "xsd:dateTime"},
    "weight": _ours("feedback_weight", "double"),
    "members": _ours("members"),
    "agents": _ours("agents"),
    "injected": _ours("injected"),
    "content_hash": _ours("content_hash"),
    "content": "prov:value",
    "evidence": {"@id": "oa:hasSelector", "@container": "@list"},
    "side": _ours("side"),
    "text": "oa:exact",
    "start": "oa:start",
    "end": "oa:end",
}


def described(about: About) -> dict[str, object]:
    """The report itself as a node; it has no name of its own, for two of equal content are the same."""
    return {"type": "DriftReport", **about.to_json()}


def linked(alert: Alert) -> dict[str, object]:
    """One contradiction as a node with two observations; every key is a term of ``CONTEXT``."""
    told = as_object(alert)
    evidence = [{"type": "TextPositionSelector", **found._asdict()} for found in alert.evidence]
    sides = {}
    for side in ("older", "newer"):
        fields = dict(told[side])
        label = fields.pop("id")
        sides[side] = {"id": _name(label), "type": "Observation", "observation_id": label, **fields}
    name = f"{OURS}contradiction:{quote(alert.fingerprint, safe='')}"
    return {"id": name, "type": "Contradiction", **told, **sides, "evidence": evidence}


def _name(label: str) -> str:
    """An observation's name: ids are UUIDs where the platform keeps to its own schema."""
    with suppress(ValueError):
        if str(UUID(label)) == label:
            return f"urn:uuid:{label}"
    return f"{OURS}observation:{quote(label.encode('utf-8', 'surrogatepass'), safe='')}"
