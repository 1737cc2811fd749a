"""Triage of one alert: a change of where it stands, and the history of such changes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from sqlalchemy import func, insert, literal, select, update

from queries import own_schema
from queries.once import CONFLICT, SAVED, Outcome, take_lock
from queries.scope import is_storable

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

    from queries.scope import Reach

table, events = own_schema.drift_triage, own_schema.drift_triage_events
STATES = ("new", "acknowledged", "investigating", "resolved", "false_positive", "snoozed")
VERDICTS = ("older", "newer", "both")
LONGEST_NOTE, LONGEST_OWNER = 2_000, 200
KEPT = 100  # entries of a history that are shown, the newest


@dataclass(frozen=True)
class TriageEntry:
    """One row of an alert's history."""

    id: int
    request_id: UUID
    fingerprint: str
    old_state: str
    new_state: str
    verdict: str | None
    owner: str | None
    note: str
    snoozed_until: datetime | None
    threshold: float | None
    actor: str
    changed_at: datetime


@dataclass(frozen=True)
class SetTriage:
    """Put an alert into a state, given the version that was seen; 0 where nobody had touched it.

    ``older``, ``newer``, ``kind`` and ``found_up_to`` say what the alert was about, for when its texts have changed.
    """

    org_id: str
    fingerprint: str
    seen: int
    state: str
    request_id: UUID
    actor: str
    older: str
    newer: str
    kind: str
    found_up_to: float
    threshold: float
    verdict: str | None = None
    owner: str | None = None
    note: str = ""
    snoozed_until: datetime | None = None
    name: ClassVar[str] = "triage"
    done: ClassVar[str] = SAVED

    def __post_init__(self) -> None:
        if self.state not in STATES:
            raise ValueError(f"a state is {', '.join(STATES)}; found {self.state!r}")
        if (self.state == "resolved") != (self.verdict in VERDICTS):
            raise ValueError(f"resolved takes a verdict and nothing else does; found {self.verdict!r} for {self.state}")
        if (self.state == "snoozed") != (self.snoozed_until is not None):
            raise ValueError("snoozed takes the moment it ends and nothing else does")
        if len(self.note) > LONGEST_NOTE or len(self.owner or "") > LONGEST_OWNER:
            raise ValueError(f"expected a note of at most {LONGEST_NOTE} characters and an owner of {LONGEST_OWNER}")
        if not all(map(is_storable, (self.org_id, self.fingerprint, self.note, self.owner or "", self.actor))):
            raise ValueError("expected text that can be stored; found a NUL or half a character")

    def lock(self, connection: Connection, _reach: Reach) -> None:
        """The alert's own."""
        take_lock(connection, "rankscope triage", self.org_id, self.fingerprint)

    def made(self, connection: Connection) -> TriageEntry | None:
        """The event of this request."""
        mine = (events.c.org_id == self.org_id, events.c.request_id == self.request_id)
        return _one(connection, _entries().where(*mine))

    def is_mine(self, entry: TriageEntry) -> bool:
        """Whether that event is about this alert and leads to this state."""
        return (entry.fingerprint, entry.new_state, entry.verdict) == (self.fingerprint, self.state, self.verdict)

    def apply(self, connection: Connection) -> Outcome[TriageEntry]:
        """Write the state and its event if the version is still the one that was seen."""
        mine = (table.c.org_id == self.org_id, table.c.fingerprint == self.fingerprint)
        stands = connection.execute(select(table.c.version, table.c.state).where(*mine)).one_or_none()
        if (0 if stands is None else stands.version) != self.seen:
            return Outcome("conflict", CONFLICT, last=last_entry(connection, self.org_id, self.fingerprint))
        values = {
            "state": self.state,
            "verdict": self.verdict,
            "owner": self.owner,
            "note": self.note,
            "snoozed_until": self.snoozed_until,
            "changed_by": self.actor,
            "changed_at": func.clock_timestamp(),
            "older": UUID(self.older),
            "newer": UUID(self.newer),
            "kind": self.kind,
            "found_up_to": self.found_up_to,
        }
        if stands is None:
            named = {"org_id": self.org_id, "fingerprint": self.fingerprint, "version": 1}
            connection.execute(insert(table).values(**named, **values))
        else:
            raised = update(table).where(*mine, table.c.version == self.seen)
            connection.execute(raised.values(version=table.c.version + literal(1), **values))
        return Outcome("applied", SAVED, self._append(connection, "new" if stands is None else stands.state))

    def _append(self, connection: Connection, old: str) -> TriageEntry:
        said = {
            "fingerprint": self.fingerprint,
            "old_state": old,
            "new_state": self.state,
            "verdict": self.verdict,
            "owner": self.owner,
            "note": self.note,
            "snoozed_until": self.snoozed_until,
            "threshold": self.threshold,
            "actor": self.actor,
        }
        adding = insert(events).values(org_id=self.org_id, request_id=self.request_id, **said)
        made = connection.execute(adding.returning(events.c.id, events.c.changed_at)).one()
        return TriageEntry(id=made.id, request_id=self.request_id, changed_at=made.changed_at, **said)  # type: ignore[arg-type]


def _entries() -> Select[Any]:
    return select(*(events.c[name] for name in TriageEntry.__dataclass_fields__))


def _one(connection: Connection, statement: Select[Any]) -> TriageEntry | None:
    row = connection.execute(statement).one_or_none()
    return None if row is None else TriageEntry(*row)


def last_entry(connection: Connection, org_id: str, fingerprint: str) -> TriageEntry | None:
    """The newest event of an alert."""
    mine = _entries().where(events.c.org_id == org_id, events.c.fingerprint == fingerprint)
    return _one(connection, mine.order_by(events.c.id.desc()).limit(1))


def history(connection: Connection, org_id: str, fingerprint: str) -> list[TriageEntry]:
    """An alert's events, newest first."""
    mine = _entries().where(events.c.org_id == org_id, events.c.fingerprint == fingerprint)
    return [TriageEntry(*row) for row in connection.execute(mine.order_by(events.c.id.desc()).limit(KEPT))]
