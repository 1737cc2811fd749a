"""The organizations and projects someone may choose from, and whether there is one of some id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import func, or_, select

from queries import schema
from queries.engine import LIST

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, FromClause, Select

    from queries.scope import Scope

SHOWN = 2_000  # entries of a list to choose from; beyond that an operator types an address
LONGEST_NAME = 200


def shown_name(table: FromClause) -> ColumnElement[str]:
    """A name cut to a length that a list can show; the id where a store has none."""
    return func.left(func.coalesce(table.c.name, table.c.id), LONGEST_NAME)


def by_name(table: FromClause) -> tuple[ColumnElement[Any], ...]:
    """By name, those that begin with a sign last: no list of names begins with what is hardly one."""
    return table.c.name.regexp_match("^[[:punct:]]"), table.c.name, table.c.id


def in_scope(scope: Scope) -> ColumnElement[bool]:
    """The scope's organization, or all in reach."""
    return scope.organizations(schema.organizations.c.id)


@dataclass(frozen=True)
class OrganizationRow:
    """One organization as the scope list needs it."""

    id: str
    name: str


@dataclass(frozen=True)
class Organizations:
    """The organizations in reach, by name; ``also`` are to be among them whatever their names are."""

    scope: Scope
    chosen: str | None = None
    also: tuple[str, ...] = ()
    row: ClassVar[type] = OrganizationRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[tuple[str, str]]:
        """As many as a list can show, and the chosen one and those named, which may lie beyond them."""
        orgs = schema.organizations
        mine = self.scope.reach.where(orgs.c.id)
        listed = select(orgs.c.id).where(mine).order_by(*by_name(orgs)).limit(SHOWN)
        return (
            select(orgs.c.id, shown_name(orgs))
            .where(mine, or_(orgs.c.id.in_(listed), orgs.c.id == self.chosen, orgs.c.id.in_(self.also)))
            .order_by(*by_name(orgs))
        )


@dataclass(frozen=True)
class ProjectRow:
    """One project as the scope list needs it."""

    id: str
    name: str


@dataclass(frozen=True)
class Projects:
    """The projects of the scope's organization, by name."""

    scope: Scope
    row: ClassVar[type] = ProjectRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[tuple[str, str]]:
        """All projects of the organization, whatever project the scope names."""
        projects = schema.projects
        return (
            select(projects.c.id, shown_name(projects))
            .where(projects.c.org_id == self.scope.org)
            .order_by(projects.c.name, projects.c.id)
            .limit(SHOWN)
        )


def unknown_organizations(connection: Connection, orgs: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the ids that name no organization of this store, in their own order."""
    table = schema.organizations
    known = set(connection.scalars(select(table.c.id).where(table.c.id.in_(orgs))))
    return tuple(org for org in orgs if org not in known)


def unknown_project(connection: Connection, org: str, project: str) -> bool:
    """Whether an organization has no project of this id."""
    table = schema.projects
    found = connection.scalar(select(table.c.id).where(table.c.org_id == org, table.c.id == project))
    return found is None
