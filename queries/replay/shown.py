"""The texts behind the ids that a replay lists: what observations say, and what retrievals asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import and_, any_, bindparam, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Text, Uuid

from queries import schema
from queries.engine import AGGREGATE
from queries.moments import datable
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Select

    from queries.scope import Scope

LONGEST = 500  # characters of a text in a list


def named(scope: Scope, ids: Sequence[str]) -> ColumnElement[bool]:
    """Observations of the scope's one organization by their ids, however many there are."""
    table = schema.observations
    listed = bindparam(None, list(ids), type_=ARRAY(Uuid(as_uuid=False)))
    return and_(table.c.org_id == scope.org, scope.reach.where(table.c.org_id), table.c.id == any_(listed))


@dataclass(frozen=True)
class ShownObservationRow:
    """One observation as a list shows it."""

    id: str
    text: str
    agent: str | None


@dataclass(frozen=True)
class ShownObservations:
    """Some observations of the scope's organization; an unknown or foreign id has no row."""

    scope: Scope
    ids: tuple[str, ...]
    row: ClassVar[type] = ShownObservationRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """By primary key."""
        table = schema.observations
        shown = (table.c.id, func.left(table.c.content, LONGEST), table.c.agent_id)
        return select(*shown).where(named(self.scope, self.ids)).order_by(table.c.id)


@dataclass(frozen=True)
class ShownRetrievalRow:
    """One retrieval as a list shows it."""

    id: str
    query: str
    session_id: str
    at: datetime | None


@dataclass(frozen=True)
class ShownRetrievals:
    """Some retrievals of the scope's organization by the ids that a replay gives them."""

    scope: Scope
    ids: tuple[str, ...]
    shape: LogShape = COMPLETE_SHAPE
    row: ClassVar[type] = ShownRetrievalRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """One row per retrieval; without an id of its own it is known by session and question."""
        logs = schema.retrieval_ab_logs
        retrieval = self.shape.retrieval()
        at = func.min(datable(logs.c.created_at)) if self.shape.created_at else literal(None)
        mine = retrieval == any_(bindparam(None, list(self.ids), type_=ARRAY(Text)))
        asked = func.left(func.min(logs.c.query_text), LONGEST)
        return (
            select(retrieval, asked, func.min(logs.c.session_id), at)
            .where(self.scope.tenant(logs), mine)
            .group_by(retrieval)
            .order_by(retrieval)
        )
