"""Whatever an id or a part of a name may mean, in everything that someone may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from sqlalchemy import Text, and_, cast, func, or_, select, true
from sqlalchemy.dialects.postgresql import distinct_on

from queries import schema
from queries.engine import LIST
from queries.found import FOUND, LONGEST_TEXT, NEVER, NOWHERE, FoundRow, share
from queries.found_alerts import AlertsOf, ToldAlerts
from queries.moments import datable
from queries.organizations import LONGEST_NAME, in_scope, shown_name
from queries.shape import COMPLETE_SHAPE

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, FromClause, Select
    from sqlalchemy.sql.selectable import LateralFromClause

    from queries.engine import Question
    from queries.scope import Scope
    from queries.shape import LogShape

LOOKED_THROUGH = 10_000  # observations whose titles are read for one search
ROWS_LOOKED_THROUGH = 50_000  # log rows whose queries are read: with 20 candidates each, 2 500 retrievals


def _named(table: FromClause, words: str) -> ColumnElement[bool]:
    """Whether the words are the id or stand in the name, as typed, in any case."""
    return or_(table.c.id == words, table.c.name.icontains(words, autoescape=True))


def _found(
    scope: Scope,
    table: FromClause,
    id_: ColumnElement[Any],
    name: ColumnElement[Any],
    *,
    at: ColumnElement[Any] = NEVER,
    project: ColumnElement[Any] = NOWHERE,
) -> Select[Any]:
    """What a table holds of the organizations in reach, as rows to choose from; with an id, one probe for each."""
    orgs = schema.organizations
    theirs = and_(table.c.org_id == orgs.c.id, scope.reach.where(table.c.org_id))
    return (
        select(cast(id_, Text), table.c.org_id, shown_name(orgs), name, at, project)
        .select_from(orgs.join(table, theirs))
        .where(scope.reach.where(orgs.c.id))
        .limit(FOUND + 1)
    )


def _recent(scope: Scope, newest: Select[Any], table: FromClause, bound: int) -> LateralFromClause:
    """The first rows of each organization, by one short walk down the index whose order ``newest`` has."""

    def rows_of(org: ColumnElement[str]) -> Select[Any]:
        return newest.where(table.c.org_id == org, scope.reach.where(table.c.org_id))

    # counted in that order, too: in any other a planner may read all of the table for the few rows of one
    most = share(scope, bound, lambda org: rows_of(org).with_only_columns(table.c.org_id))
    return rows_of(schema.organizations.c.id).limit(most).lateral("recent")


def newest_titled(scope: Scope, *more: ColumnElement[Any]) -> LateralFromClause:
    """The observations whose titles are read, with ``more`` columns of them.

    No index knows titles, so these are the newest active ones of the scope's organization, or where none is chosen as
    many of each organization in reach as keep the whole within the same bound.
    """
    table = schema.observations
    read = select(table.c.id, table.c.org_id, table.c.title, table.c.created_at, table.c.project_id, *more)
    active = read.where(table.c.status == "active").order_by(table.c.created_at.desc())
    return _recent(scope, active, table, LOOKED_THROUGH)


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
            select(orgs.c.id, orgs.c.id, shown_name(orgs), shown_name(orgs), NEVER, NOWHERE)
            .where(self.scope.reach.where(orgs.c.id), _named(orgs, self.words))
            .order_by(*_best_first(orgs, self.words))
            .limit(FOUND + 1)
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
        projects = schema.projects
        return (
            _found(self.scope, projects, projects.c.id, func.left(projects.c.name, LONGEST_NAME))
            .where(_named(projects, self.words))
            .order_by(*_best_first(projects, self.words), projects.c.org_id)
        )


@dataclass(frozen=True)
class ObservationsOf:
    """The observation of an id, in whichever organization in reach has it."""

    scope: Scope
    id: UUID
    row: ClassVar[type] = FoundRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """By primary key."""
        table = schema.observations
        text = func.left(table.c.content, LONGEST_TEXT)
        return (
            _found(self.scope, table, table.c.id, text, at=datable(table.c.created_at), project=table.c.project_id)
            .where(table.c.id == self.id)
            .order_by(table.c.org_id)
        )


@dataclass(frozen=True)
class TitledObservations:
    """Active observations with the words in their title, the newest first, of those whose titles are read."""

    scope: Scope
    words: str
    row: ClassVar[type] = FoundRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """Those whose titles begin so first."""
        orgs, recent = schema.organizations, newest_titled(self.scope)
        name, title = func.lower(recent.c.title), func.left(recent.c.title, LONGEST_TEXT)
        return (
            select(
                cast(recent.c.id, Text),
                recent.c.org_id,
                shown_name(orgs),
                title,
                datable(recent.c.created_at),
                recent.c.project_id,
            )
            .select_from(orgs.join(recent, true()))
            .where(in_scope(self.scope), recent.c.title.icontains(self.words, autoescape=True))
            .order_by(
                name.startswith(self.words.lower(), autoescape=True).desc(), recent.c.created_at.desc(), recent.c.id
            )
            .limit(FOUND + 1)
        )


@dataclass(frozen=True)
class RetrievalsOf:
    """The logged retrieval of an id, with its query."""

    scope: Scope
    id: UUID
    dated: bool = True
    row: ClassVar[type] = FoundRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """One row of it per organization is enough."""
        logs = schema.retrieval_ab_logs
        query, at = func.left(logs.c.query_text, LONGEST_TEXT), datable(logs.c.created_at) if self.dated else NEVER
        return (
            _found(self.scope, logs, logs.c.retrieval_id, query, at=at, project=logs.c.project_id)
            .where(logs.c.retrieval_id == self.id)
            .ext(distinct_on(logs.c.org_id))
            .order_by(logs.c.org_id)
        )


@dataclass(frozen=True)
class AskedRetrievals:
    """Logged retrievals with the words in their query, the newest first; read in a bound, as titles are."""

    scope: Scope
    words: str
    row: ClassVar[type] = FoundRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """The same order; a retrieval has several rows."""
        logs, orgs = schema.retrieval_ab_logs, schema.organizations
        read = select(logs.c.retrieval_id, logs.c.org_id, logs.c.query_text, logs.c.created_at, logs.c.project_id)
        newest = read.order_by(logs.c.created_at.desc(), logs.c.id.desc())
        recent = _recent(self.scope, newest, logs, ROWS_LOOKED_THROUGH)
        query, at = func.min(recent.c.query_text), func.max(recent.c.created_at)
        named = (cast(recent.c.retrieval_id, Text), orgs.c.id, shown_name(orgs))
        begins = func.lower(query).startswith(self.words.lower(), autoescape=True)
        return (
            select(*named, func.left(query, LONGEST_TEXT), datable(at), func.min(recent.c.project_id))
            .select_from(orgs.join(recent, true()))
            .where(
                in_scope(self.scope),
                recent.c.retrieval_id.is_not(None),  # rows from before the column was added have none
                recent.c.query_text.icontains(self.words, autoescape=True),
            )
            .group_by(orgs.c.id, orgs.c.name, recent.c.retrieval_id)
            .order_by(begins.desc(), at.desc(), recent.c.retrieval_id)
            .limit(FOUND + 1)
        )


def questions(scope: Scope, words: str, log: LogShape = COMPLETE_SHAPE) -> dict[str, Question]:
    """What the words may mean: an id that cannot be one is not asked for, and a title or a query is none."""
    asked: dict[str, Question] = {
        "organization": NamedOrganizations(scope, words),
        "project": NamedProjects(scope, words),
    }
    try:
        id_ = UUID(words)
    except ValueError:
        asked |= {"alert": ToldAlerts(scope, words), "observation": TitledObservations(scope, words)}
        if log.retrieval_id and log.created_at:  # without a time of their own no index knows which rows are recent
            asked["retrieval"] = AskedRetrievals(scope, words)
        return asked
    asked |= {"alert": AlertsOf(scope, words), "observation": ObservationsOf(scope, id_)}
    if log.retrieval_id:
        asked["retrieval"] = RetrievalsOf(scope, id_, dated=log.created_at)
    return asked
