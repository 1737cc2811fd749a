"""Whatever an id or a part of a name may mean, in everything that someone may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from sqlalchemy import Numeric, Text, and_, case, cast, func, literal, or_, select
from sqlalchemy.dialects.postgresql import distinct_on

from queries import own_schema, schema
from queries.engine import LIST
from queries.organizations import LONGEST_NAME, shown_name

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, FromClause, Select

    from queries.engine import Question
    from queries.scope import Scope

FOUND = 10  # of each kind
LONGEST_TEXT = 200


@dataclass(frozen=True)
class FoundRow:
    """One thing: its id, whose it is, and what it is called or says."""

    id: str
    org_id: str
    organization: str
    name: str


def _named(table: FromClause, words: str) -> ColumnElement[bool]:
    """Whether the words are the id or stand in the name, as typed, in any case."""
    return or_(table.c.id == words, table.c.name.icontains(words, autoescape=True))


def _best_first(table: FromClause, words: str) -> list[ColumnElement[Any]]:
    name = func.lower(table.c.name)
    return [(table.c.id == words).desc(), name.startswith(words.lower(), autoescape=True).desc(), name, table.c.id]


@dataclass(frozen=True)
class NamedOrganizations:
    """Organizations in reach by id or name."""

    scope: Scope
    words: str
    row: ClassVar[type] = FoundRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """An exact id first, then names that begin so."""
        orgs = schema.organizations
        return (
            select(orgs.c.id, orgs.c.id, shown_name(orgs), shown_name(orgs))
            .where(self.scope.reach.where(orgs.c.id), _named(orgs, self.words))
            .order_by(*_best_first(orgs, self.words))
            .limit(FOUND)
        )


@dataclass(frozen=True)
class NamedProjects:
    """Projects in reach by id or name."""

    scope: Scope
    words: str
    row: ClassVar[type] = FoundRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """The same order."""
        orgs, projects = schema.organizations, schema.projects
        return (
            select(projects.c.id, projects.c.org_id, shown_name(orgs), func.left(projects.c.name, LONGEST_NAME))
            .select_from(projects.join(orgs, orgs.c.id == projects.c.org_id))
            .where(self.scope.reach.where(projects.c.org_id), _named(projects, self.words))
            .order_by(*_best_first(projects, self.words), projects.c.org_id)
            .limit(FOUND)
        )


@dataclass(frozen=True)
class ObservationsOf:
    """The observation of an id, in whichever organization in reach has it."""

    scope: Scope
    id: UUID
    row: ClassVar[type] = FoundRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """One probe of the primary key per organization."""
        orgs, table = schema.organizations, schema.observations
        here = and_(table.c.org_id == orgs.c.id, table.c.id == self.id)
        return (
            select(cast(table.c.id, Text), table.c.org_id, shown_name(orgs), func.left(table.c.content, LONGEST_TEXT))
            .select_from(orgs.join(table, here))
            .where(self.scope.reach.where(orgs.c.id), self.scope.reach.where(table.c.org_id))
            .order_by(table.c.org_id)
            .limit(FOUND)
        )


@dataclass(frozen=True)
class RetrievalsOf:
    """The logged retrieval of an id, with its query."""

    scope: Scope
    id: UUID
    row: ClassVar[type] = FoundRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """One row of it per organization is enough."""
        orgs, logs = schema.organizations, schema.retrieval_ab_logs
        here = and_(logs.c.org_id == orgs.c.id, logs.c.retrieval_id == self.id)
        return (
            select(
                cast(logs.c.retrieval_id, Text),
                logs.c.org_id,
                shown_name(orgs),
                func.left(logs.c.query_text, LONGEST_TEXT),
            )
            .select_from(orgs.join(logs, here))
            .where(self.scope.reach.where(orgs.c.id), self.scope.reach.where(logs.c.org_id))
            .ext(distinct_on(logs.c.org_id))
            .order_by(logs.c.org_id)
            .limit(FOUND)
        )


@dataclass(frozen=True)
class AlertsOf:
    """The contradiction of a fingerprint, if a pass that is still kept found it."""

    scope: Scope
    fingerprint: str
    row: ClassVar[type] = FoundRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """Its kind stands for a name."""
        orgs, found = schema.organizations, own_schema.contradictions
        shown = func.round(cast(found.c.severity, Numeric), case((found.c.severity < 10, 2), else_=1))  # noqa: PLR2004
        severity = func.trim_scale(shown)  # three digits, as a worklist has them
        told = func.concat(found.c.kind, literal(" contradiction, severity "), severity)
        return (
            select(found.c.fingerprint, found.c.org_id, shown_name(orgs), told)
            .select_from(found.join(orgs, orgs.c.id == found.c.org_id))
            .where(self.scope.reach.where(found.c.org_id), found.c.fingerprint == self.fingerprint)
            .ext(distinct_on(found.c.org_id))
            .order_by(found.c.org_id, found.c.run_id.desc())
            .limit(FOUND)
        )


def questions(scope: Scope, words: str, *, by_retrieval: bool) -> dict[str, Question]:
    """What the words may mean: an id that cannot be one is not asked for."""
    asked: dict[str, Question] = {
        "organization": NamedOrganizations(scope, words),
        "project": NamedProjects(scope, words),
        "alert": AlertsOf(scope, words),
    }
    try:
        id_ = UUID(words)
    except ValueError:
        return asked
    asked["observation"] = ObservationsOf(scope, id_)
    if by_retrieval:
        asked["retrieval"] = RetrievalsOf(scope, id_)
    return asked
