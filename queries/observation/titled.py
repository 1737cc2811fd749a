"""Observations found by their title, or by words of which the title holds some, among those whose titles are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import case, cast, func, or_, select, true
from sqlalchemy.dialects.postgresql import TSVECTOR

from queries import schema
from queries.anything import newest_titled
from queries.engine import AGGREGATE
from queries.moments import datable
from queries.observation.search import LONGEST_TEXT, MATCHES, MatchRow
from queries.organizations import in_scope, shown_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import ColumnElement, FromClause, Select

    from queries.scope import Scope

    Shown = Callable[[FromClause], tuple[ColumnElement[Any], ...]]

WHOLE, PART, TEXT, WORDS = range(4)  # how a text is held: as the title, in the title, in the content, word by word


@dataclass(frozen=True)
class TitleMatchRow(MatchRow):
    """One observation whose title holds the words, or which holds them with its title, and how."""

    title: str
    held: int


def held(table: FromClause, sought: str) -> ColumnElement[int]:
    """How an observation holds a text that it is known to hold: whoever pastes a title means what is called so."""
    title = func.coalesce(table.c.title, "")
    return case(
        (func.lower(func.btrim(title)) == func.lower(sought), WHOLE),
        (title.icontains(sought, autoescape=True), PART),
        (table.c.content.icontains(sought, autoescape=True), TEXT),
        else_=WORDS,
    )


def titled_first(scope: Scope, sought: str, shown: Shown, most: int, *, ranked: bool = False) -> Select[Any]:
    """Those of organization and project that hold all words in title and text together, and last how each does.

    What is called so first, then what has the words in its title as typed, then the newest. Or ``ranked`` as texts are:
    each kind by how well the words match, which then stands beside it.
    """
    table, orgs = schema.observations, schema.organizations
    recent = newest_titled(scope, table.c.agent_id, table.c.status, table.c.content, table.c.search)
    asked = func.websearch_to_tsquery("english", sought)
    # the text's words are kept by the store; only the title's, which are few, are made here
    words = func.to_tsvector("english", recent.c.title).op("||")(func.coalesce(recent.c.search, cast("", TSVECTOR)))
    how, rank = held(recent, sought), func.ts_rank(words, asked)
    told = (how, rank) if ranked else (how,)
    best = (how, rank.desc()) if ranked else (case((how <= PART, how), else_=WORDS),)
    return (
        select(*shown(recent), *told)
        .select_from(orgs.join(recent, true()))
        .where(
            in_scope(scope),
            scope.tenant(recent),
            or_(recent.c.title.icontains(sought, autoescape=True), words.op("@@")(asked)),
        )
        .order_by(*best, recent.c.created_at.desc(), recent.c.id)
        .limit(most)
    )


@dataclass(frozen=True)
class TitleMatches:
    """Observations of the scope's organization and project by the words of title and text together."""

    scope: Scope
    words: str
    row: ClassVar[type] = TitleMatchRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """As many as are found by the words of the text alone."""
        return titled_first(self.scope, self.words.strip(), _shown, MATCHES)


def _shown(recent: FromClause) -> tuple[ColumnElement[Any], ...]:
    return (
        recent.c.id,
        shown_name(schema.organizations),
        recent.c.project_id,
        recent.c.agent_id,
        datable(recent.c.created_at),
        recent.c.status,
        func.left(recent.c.content, LONGEST_TEXT),
        func.left(recent.c.title, LONGEST_TEXT),
    )
