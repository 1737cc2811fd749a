"""Pins: questions with what their ranking has to include and in which order, kept per organization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert

from queries.once import take_lock
from queries.own_schema import pins
from queries.scope import is_storable, is_uuid

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Select

MOST = 200  # pins that an organization may hold and that are read: each is a retrieval when they are checked
LONGEST_NAME, LONGEST_QUERY, MOST_EXPECTED = 200, 16_000, 50

Pair = tuple[str, str]


class PinError(ValueError):
    """A pin that cannot be held: what was expected, and what was found."""


@dataclass(frozen=True)
class Pin:
    """A question, what its memory block must include, and which observation must rank above which; ids as texts."""

    name: str
    query: str
    must_include: tuple[str, ...] = ()
    must_precede: tuple[Pair, ...] = ()
    project: str | None = None
    work_type: str | None = None

    def __post_init__(self) -> None:
        for what, text, most in (("name", self.name, LONGEST_NAME), ("query", self.query, LONGEST_QUERY)):
            if not text.strip() or len(text) > most:
                raise PinError(f"{what}: expected 1 to {most} characters, found {len(text.strip())}")
        if not all(is_storable(text) for text in (self.name, self.query, self.project or "", self.work_type or "")):
            raise PinError("pin: expected texts a store can hold, found NUL or half a character")
        expected = len(self.must_include) + len(self.must_precede)
        if not 1 <= expected <= MOST_EXPECTED:
            raise PinError(f"expectations: expected 1 to {MOST_EXPECTED}, found {expected}")
        for label in (*self.must_include, *(label for pair in self.must_precede for label in pair)):
            if not is_uuid(label):
                raise PinError("observation: expected an id such as 00000000-0000-0000-0000-000000000000")
        if any(upper == lower for upper, lower in self.must_precede):
            raise PinError("must_precede: expected two observations, found one twice")


@dataclass(frozen=True)
class StoredPin:
    """A pin as the store has it; ``pin`` is None where its expectations cannot be read, and ``unreadable`` says why."""

    id: int
    name: str
    query: str
    pin: Pin | None
    unreadable: str | None
    created_by: str
    created_at: datetime


@dataclass(frozen=True)
class Pins:
    """The pins that an organization holds, oldest first."""

    org_id: str

    def statement(self) -> Select[Any]:
        """As many as can be checked while someone waits."""
        return select(pins).where(*_held(self.org_id)).order_by(pins.c.id).limit(MOST)

    def unread(self, connection: Connection) -> int:
        """How many are held beyond those that are read; a store may hold what was not saved here."""
        held = select(func.count()).select_from(pins).where(*_held(self.org_id))
        return max(0, connection.execute(held).scalar_one() - MOST)

    def read(self, connection: Connection) -> tuple[StoredPin, ...]:
        """Each pin, also one whose expectations somebody wrote by hand and wrongly."""
        return tuple(_stored(row) for row in connection.execute(self.statement()))


@dataclass(frozen=True)
class SavePin:
    """Hold a pin from now on, in somebody's name."""

    org_id: str
    pin: Pin
    actor: str

    def apply(self, connection: Connection) -> int | None:
        """The pin's number; None where the organization already holds one of this name, which stays as it is.

        ``PinError`` where it holds as many as are checked.
        """
        pin = self.pin
        take_lock(connection, "rankscope pins", self.org_id)  # or two that save the last one would both find room
        statement = (
            insert(pins)
            .values(
                org_id=self.org_id,
                project_id=pin.project,
                name=pin.name,
                query_text=pin.query,
                expectations=expectations(pin),
                work_type=pin.work_type,
                created_by=self.actor,
            )
            .on_conflict_do_nothing()
            .returning(pins.c.id)
        )
        saved = connection.execute(statement).scalar_one_or_none()
        if saved is not None and Pins(self.org_id).unread(connection):
            raise PinError(f"Not pinned: an organization holds {MOST} pins at most. Take one down first.")
        return saved


@dataclass(frozen=True)
class ArchivePin:
    """Hold a pin no longer; it stays in the store with who took it down and when."""

    org_id: str
    id: int
    actor: str

    def apply(self, connection: Connection) -> bool:
        """Whether there was such a pin."""
        change = (
            update(pins)
            .where(*_held(self.org_id), pins.c.id == self.id)
            .values(archived_by=self.actor, archived_at=func.clock_timestamp())
        )
        return connection.execute(change).rowcount > 0


def _held(org_id: str) -> tuple[ColumnElement[bool], ...]:
    return pins.c.org_id == org_id, pins.c.archived_at.is_(None)


def expectations(pin: Pin) -> dict[str, Any]:
    """What a pin expects, as it is stored."""
    return {"must_include": list(pin.must_include), "must_precede": [list(pair) for pair in pin.must_precede]}


def read_expectations(found: object) -> tuple[tuple[str, ...], tuple[Pair, ...]]:
    """What was stored or written to a file as expectations, or ``PinError``."""
    if not isinstance(found, dict):
        raise PinError(f"expectations: expected an object, found {type(found).__name__}")
    include, precede = found.get("must_include", []), found.get("must_precede", [])
    if not isinstance(include, list) or not all(isinstance(label, str) for label in include):
        raise PinError("must_include: expected a list of ids")
    two = 2
    if not isinstance(precede, list) or not all(isinstance(pair, list) and len(pair) == two for pair in precede):
        raise PinError("must_precede: expected a list of pairs of ids")
    if not all(isinstance(label, str) for pair in precede for label in pair):
        raise PinError("must_precede: expected a list of pairs of ids")
    return tuple(include), tuple((upper, lower) for upper, lower in precede)


def _stored(row: Any) -> StoredPin:  # noqa: ANN401 - a row of pins
    pin, unreadable = None, None
    try:
        include, precede = read_expectations(row.expectations)
        pin = Pin(row.name, row.query_text, include, precede, row.project_id, row.work_type)
    except PinError as error:
        unreadable = str(error)
    return StoredPin(row.id, row.name, row.query_text, pin, unreadable, row.created_by, row.created_at)
