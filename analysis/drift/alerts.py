"""A contradiction as operators work on it: both statements, what was done with them, and where triage stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from ranking import Evidence
    from ranking.contradictions import Kind

State = Literal["new", "acknowledged", "investigating", "resolved", "false positive", "snoozed"]
Verdict = Literal["older", "newer", "both"]

OPEN: tuple[State, ...] = ("new", "acknowledged", "investigating")
DECIDED: tuple[State, ...] = ("resolved", "false positive")


@dataclass(frozen=True)
class AlertFilter:
    """Which alerts are asked for; every field left as it is admits all of them."""

    threshold: float
    least_severity: float = 0.0
    kinds: frozenset[Kind] | None = None
    agents: frozenset[str] | None = None
    states: frozenset[State] | None = None
    since: datetime | None = None


@dataclass(frozen=True)
class Side:
    """One of the two statements, its origin, and how often agents were given it."""

    id: str
    content: str
    content_hash: str
    agent_id: str | None
    session_id: str | None
    created_at: datetime | None
    weight: float | None
    members: int
    agents: int
    injected: int | None  # None: this store does not log what was injected


@dataclass(frozen=True)
class Triage:
    """Where an alert stands and who put it there; version 0 means that nobody has touched it."""

    state: State = "new"
    verdict: Verdict | None = None
    owner: str | None = None
    note: str = ""
    snoozed_until: datetime | None = None
    version: int = 0
    changed_by: str | None = None
    changed_at: datetime | None = None


@dataclass(frozen=True)
class Alert:
    """A contradiction with its severity as parts, and weighted by how far it reached agents."""

    org_id: str
    project_id: str | None
    fingerprint: str
    kind: Kind
    rule: str
    overlap: float
    severity: float
    parts: tuple[tuple[str, float], ...]
    evidence: tuple[Evidence, ...]
    older: Side
    newer: Side
    both_injected: int | None
    harm: float
    triage: Triage


@dataclass(frozen=True, slots=True)  # there may be many thousands
class Origin:
    """Where a statement came from, and how many observations and agents are known to stand on its side."""

    id: str
    agent_id: str | None
    session_id: str | None
    created_at: datetime | None
    weight: float
    members: int
    agents: int


@dataclass(frozen=True, slots=True)  # there may be many thousands
class Listed:
    """An alert without its texts: what a worklist shows, and what ``read_alerts`` reads the texts for."""

    project_id: str | None
    fingerprint: str
    kind: Kind
    rule: str
    overlap: float
    severity: float
    parts: tuple[tuple[str, float], ...]
    evidence: tuple[Evidence, ...]
    older: Origin
    newer: Origin
    least: float  # the lowest and the highest threshold searched at which it is found as it is
    most: float
    older_injected: int | None = None
    newer_injected: int | None = None
    both_injected: int | None = None
    harm: float = 0.0
    triage: Triage = Triage()


class Opposed(NamedTuple):
    """Which opposition pairs a search went by: their digest, how many, and whether they are the defaults."""

    digest: str
    number: int
    defaults: bool


@dataclass(frozen=True)
class Found:
    """What a search for alerts looked at and which fingerprints passed its filter, worst first."""

    fingerprints: tuple[str, ...]
    considered: int
    active: int
    detected: int
    data_version: str
    as_of: datetime
    set_apart: int = 0
    procedure: str = ""  # the detector's, which rises when it finds other things in the same data
    listed: tuple[Listed, ...] = field(default=(), repr=False)
    opposed: Opposed | None = None
    unlisted: tuple[tuple[State, int], ...] = ()  # what the filter left out, by where it stands
