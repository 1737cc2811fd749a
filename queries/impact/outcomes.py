"""How sessions ended whose block feedback changed, and how those ended whose block it left alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import func, select

from queries import folding, schema
from queries.impact.selection import OfEach
from queries.retrievals import comparable

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, FromClause, Select, Subquery


@dataclass(frozen=True)
class SessionOutcomeRow:
    """Sessions that ended alike, by whether feedback changed the block of any of their retrievals."""

    changed: bool
    outcome: str | None
    sessions: int


@dataclass(frozen=True)
class SessionOutcomes(OfEach):
    """Sessions with a comparable retrieval whose block is known, counted by changed block and outcome.

    Of a log too long to be folded whole, those with such a retrieval among the drawn, and by these alone.
    """

    row: ClassVar[type] = SessionOutcomeRow

    def measures(self, log: Subquery) -> list[ColumnElement[Any]]:
        """Its session and its block."""
        return [func.min(log.c.session_id).label("session_id"), *folding.block_measures(log)]

    def of(self, each: FromClause) -> Select[Any]:
        """A session counts once however often it retrieved: its retrievals share one outcome."""
        changed = func.bool_or(folding.block_changed(each)).label("changed")
        met = (
            select(each.c.org_id, each.c.session_id, changed)
            .where(comparable(each), folding.has_known_block(each))
            .group_by(each.c.org_id, each.c.session_id)
            .subquery("met")
        )
        sessions = schema.sessions
        its_session = schema.session_of(met)
        return (
            select(met.c.changed, sessions.c.outcome, func.count())
            .select_from(met.outerjoin(sessions, its_session))
            .group_by(met.c.changed, sessions.c.outcome)
            .order_by(met.c.changed, sessions.c.outcome)
        )
