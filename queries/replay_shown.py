"""The texts behind the ids that a replay lists: what observations say, and what retrievals asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import any_, bindparam, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Text, Uuid

from queries import schema
from queries.engine import AGGREGATE
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from sqlalchemy import Select

    from queries.scope import Scope

LONGEST = 500  # characters of a text in a list


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
        mine = table.c.id == any_(bindparam(None, list(self.ids), type_=ARRAY(Uuid(as_uuid=False))))
        return (
            select(table.c.id, func.left(table.c.content, LONGEST), table.c.agent_id)
            .where(table.c.org_id == self.scope.org, self.scope.reach.where(table.c.org_id), mine)
            .order_by(table.c.id)
        )


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
        at = func.min(logs.c.created_at) if self.shape.created_at else literal(None)
        mine = retrieval == any_(bindparam(None, list(self.ids), type_=ARRAY(Text)))
        asked = func.left(func.min(logs.c.query_text), LONGEST)
        return (
            select(retrieval, asked, func.min(logs.c.session_id), at)
            .where(self.scope.tenant(logs), mine)
            .group_by(retrieval)
            .order_by(retrieval)
        )
