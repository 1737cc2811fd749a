"""Observations found by words of their text, for whoever has no id to paste."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import func, select

from queries import schema
from queries.engine import AGGREGATE
from queries.moments import datable
from queries.organizations import shown_name

if TYPE_CHECKING:
    from sqlalchemy import Select

    from queries.scope import Scope

MATCHES = 20
LONGEST_TEXT = 500


@dataclass(frozen=True)
class MatchRow:
    """One observation that holds the words."""

    id: str
    organization: str
    project_id: str | None
    agent_id: str | None
    created_at: datetime | None
    status: str
    content: str


@dataclass(frozen=True)
class WordMatches:
    """The newest observations of the scope's organization and project whose text holds all the words."""

    scope: Scope
    words: str
    row: ClassVar[type] = MatchRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """As a web search reads words, quotes, "or" and a minus; whatever is typed is a valid search."""
        table, orgs = schema.observations, schema.organizations
        asked = func.websearch_to_tsquery("english", self.words)
        return (
            select(
                table.c.id,
                shown_name(orgs),
                table.c.project_id,
                table.c.agent_id,
                datable(table.c.created_at),
                table.c.status,
                func.left(table.c.content, LONGEST_TEXT),
            )
            .select_from(table.join(orgs, orgs.c.id == table.c.org_id))
            .where(self.scope.tenant(table), table.c.search.op("@@")(asked))
            .order_by(table.c.created_at.desc(), table.c.id)
            .limit(MATCHES)
        )
