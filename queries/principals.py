"""Who may do what: the roles granted to names, kept in ``rankscope.principals``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert

from queries import own_schema

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

Role = Literal["viewer", "operator", "admin"]
ROLES: tuple[Role, ...] = ("viewer", "operator", "admin")


@dataclass(frozen=True)
class GrantRole:
    """Give a name one role for some organizations (``None``: every one), in place of what it had."""

    name: str
    role: Role
    orgs: tuple[str, ...] | None

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("a role is granted to a name; found an empty one")
        if self.role not in ROLES:
            raise ValueError(f"a role is {', '.join(ROLES)}; found {self.role!r}")
        if self.role == "admin" and self.orgs is not None:
            raise ValueError("an admin sees every organization; found a list of them")

    def apply(self, connection: Connection) -> None:
        """Insert the name or replace its role; the time says since when it holds."""
        orgs = None if self.orgs is None else sorted(set(self.orgs))
        change = {"role": self.role, "orgs": orgs, "granted_at": func.now()}
        statement = insert(own_schema.principals).values(name=self.name, **change)
        connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=change))


@dataclass(frozen=True)
class RevokeRole:
    """Take every role from a name."""

    name: str

    def apply(self, connection: Connection) -> bool:
        """Whether the name had one."""
        table = own_schema.principals
        return connection.execute(delete(table).where(table.c.name == self.name)).rowcount > 0


@dataclass(frozen=True)
class GrantedRole:
    """One name's role as stored; ``orgs`` is ``None`` for every organization."""

    name: str
    role: str
    orgs: tuple[str, ...] | None
    granted_at: datetime


def principal_row(connection: Connection, name: str) -> tuple[str, tuple[str, ...] | None] | None:
    """Role and organizations of one name, or ``None`` where nothing was granted to it.

    Row security shows only the row of the transaction's own ``dash.principal``; the owner sees them all.
    """
    table = own_schema.principals
    row = connection.execute(select(table.c.role, table.c.orgs).where(table.c.name == name)).one_or_none()
    return None if row is None else (row.role, _orgs(row.orgs))


def granted_roles(connection: Connection) -> tuple[GrantedRole, ...]:
    """Everyone who was granted a role, by name; only the owner sees more than one."""
    table = own_schema.principals
    rows = connection.execute(
        select(table.c.name, table.c.role, table.c.orgs, table.c.granted_at).order_by(table.c.name)
    )
    return tuple(GrantedRole(row.name, row.role, _orgs(row.orgs), row.granted_at) for row in rows)


def _orgs(stored: list[str] | None) -> tuple[str, ...] | None:
    return None if stored is None else tuple(stored)
