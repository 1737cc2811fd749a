"""The audit of flag changes inside an open transaction: look up, and append."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, insert, select

from queries import own_schema
from queries.flags.registry import FLAGS

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement, Connection, Select

    from queries.flags.change import SetFlag
    from queries.flags.registry import State

audit = own_schema.flag_changes
STORED = {"on": "true", "off": "false", "absent": "absent"}


@dataclass(frozen=True)
class FlagEntry:
    """One row of the audit."""

    id: int
    org_id: str
    flag: str
    old: State
    new: State
    reason: str
    actor: str
    at: datetime
    reverts_id: int | None
    request_id: UUID


def spoken(column: ColumnElement[str]) -> ColumnElement[str]:
    """A stored state as pages call it."""
    return case((column == "true", "on"), (column == "false", "off"), else_="absent")


def is_on(state: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether a stored state of the audit amounts to on: absent is whatever the flag's default is.

    A change has an effect where this differs between its old state and its new one.
    """
    default_on = [flag.name for flag in FLAGS if flag.default == "on"]
    return case((state == "true", True), (state == "false", False), else_=audit.c.flag.in_(default_on))


def _entries() -> Select[Any]:
    old, new = spoken(audit.c.old_state), spoken(audit.c.new_state)
    who = (audit.c.reason, audit.c.actor, audit.c.changed_at, audit.c.reverts_id, audit.c.request_id)
    return select(audit.c.id, audit.c.org_id, audit.c.flag, old.label("old"), new.label("new"), *who)


def _one(connection: Connection, statement: Select[Any]) -> FlagEntry | None:
    row = connection.execute(statement).one_or_none()
    return None if row is None else FlagEntry(*row)


def entry_of_request(connection: Connection, org_id: str, request_id: UUID) -> FlagEntry | None:
    """The change that a request made in an organization, if it made one."""
    return _one(connection, _entries().where(audit.c.org_id == org_id, audit.c.request_id == request_id))


def entry_of_id(connection: Connection, org_id: str, entry_id: int) -> FlagEntry | None:
    """One change of an organization."""
    return _one(connection, _entries().where(audit.c.org_id == org_id, audit.c.id == entry_id))


def last_entry(connection: Connection, org_id: str, flag: str) -> FlagEntry | None:
    """The newest change of one flag of one organization."""
    mine = _entries().where(audit.c.org_id == org_id, audit.c.flag == flag)
    return _one(connection, mine.order_by(audit.c.id.desc()).limit(1))


def append(connection: Connection, change: SetFlag) -> FlagEntry:
    """Insert the change and return it as stored."""
    reason = change.reason.strip()
    values = {
        "org_id": change.org_id,
        "request_id": change.request_id,
        "flag": change.flag,
        "old_state": STORED[change.seen],
        "new_state": STORED[change.new],
        "reason": reason,
        "actor": change.actor,
        "reverts_id": change.reverts_id,
        "source": change.source,
        "preview": None if change.preview is None else dict(change.preview),
    }
    made = connection.execute(insert(audit).values(**values).returning(audit.c.id, audit.c.changed_at)).one()
    said = (change.org_id, change.flag, change.seen, change.new, reason, change.actor)
    return FlagEntry(made.id, *said, made.changed_at, change.reverts_id, change.request_id)
