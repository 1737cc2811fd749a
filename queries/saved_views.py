"""Addresses that a principal keeps under a name: each sees, renames and archives their own and no other's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert

from queries.own_schema import saved_views
from queries.scope import is_storable
from queries.transactions import set_local

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement, Connection, Select

MOST = 200  # views of a principal that are listed
LONGEST_NAME, LONGEST_QUERY = 80, 8_000


class ViewError(ValueError):
    """A view that cannot be kept, in one sentence."""


@dataclass(frozen=True)
class SavedView:
    """A page and the query part of its address, under a name."""

    id: UUID
    name: str
    page: str
    query: str
    created_at: datetime


@dataclass(frozen=True)
class SavedViews:
    """A principal's standing views, by name; row security repeats whose they are."""

    principal: str

    def statement(self) -> Select[tuple[UUID, str, str, str, datetime]]:
        """Newest names do not push old ones out: the list is sorted for a reader; one more says that there are more."""
        columns = (saved_views.c.id, saved_views.c.name, saved_views.c.page, saved_views.c.query)
        return (
            select(*columns, saved_views.c.created_at)
            .where(saved_views.c.principal == self.principal, saved_views.c.archived_at.is_(None))
            .order_by(func.lower(saved_views.c.name), saved_views.c.id)
            .limit(MOST + 1)
        )

    def ask(self, connection: Connection) -> tuple[SavedView, ...]:
        """The views, in a snapshot whose ``dash.principal`` is this principal."""
        return tuple(
            SavedView(row.id, row.name, row.page, row.query, row.created_at)
            for row in connection.execute(self.statement())
        )


@dataclass(frozen=True)
class SaveView:
    """Keep an address under a name."""

    principal: str
    name: str
    page: str
    query: str
    id: UUID = field(default_factory=uuid4)

    def __post_init__(self) -> None:
        checked_name(self.name)
        if len(self.query) > LONGEST_QUERY or not is_storable(self.query):
            raise ViewError(f"This address is too long to keep: {LONGEST_QUERY:,} characters at most.")

    def apply(self, connection: Connection) -> bool:
        """Whether it was kept; not where a view of this name stands already, which stays as it is."""
        _as(connection, self.principal)
        made = {"principal": self.principal, "name": self.name.strip(), "page": self.page, "query": self.query}
        statement = insert(saved_views).values(id=self.id, **made).on_conflict_do_nothing().returning(saved_views.c.id)
        return connection.execute(statement).scalar_one_or_none() is not None


@dataclass(frozen=True)
class RenameView:
    """Give a view another name."""

    principal: str
    id: UUID
    name: str

    def __post_init__(self) -> None:
        checked_name(self.name)

    def apply(self, connection: Connection) -> bool:
        """Whether there was such a view; a name that another one has is a conflict."""
        _as(connection, self.principal)
        change = update(saved_views).where(*_own(self.principal, self.id)).values(name=self.name.strip())
        return connection.execute(change).rowcount > 0


@dataclass(frozen=True)
class ArchiveView:
    """List a view no longer; it stays in the store."""

    principal: str
    id: UUID

    def apply(self, connection: Connection) -> bool:
        """Whether there was such a view."""
        _as(connection, self.principal)
        change = update(saved_views).where(*_own(self.principal, self.id)).values(archived_at=func.clock_timestamp())
        return connection.execute(change).rowcount > 0


def checked_name(name: str) -> None:
    """Refuse a name that is empty, too long, or that no store can hold."""
    if not 1 <= len(name.strip()) <= LONGEST_NAME or not is_storable(name):
        raise ViewError(f"A view's name has 1 to {LONGEST_NAME} characters.")


def _own(principal: str, id_: UUID) -> tuple[ColumnElement[bool], ...]:
    return saved_views.c.principal == principal, saved_views.c.id == id_, saved_views.c.archived_at.is_(None)


def _as(connection: Connection, principal: str) -> None:
    """Say whose rows this transaction may touch: row security reads it."""
    set_local(connection, {"dash.principal": principal})
