"""Tokens that sessions were given against how those sessions ended, by work type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import BigInteger, Double, and_, cast, func, select

from queries import schema
from queries.engine import AGGREGATE

if TYPE_CHECKING:
    from sqlalchemy import Select

    from queries.scope import Scope

WORK_TYPES = 40
LONGEST_NAME = 100


@dataclass(frozen=True)
class BudgetRow:
    """One work type: sessions by how they ended, and the tokens of those with an outcome as sum and sum of squares.

    ``work_types`` is how many there are, also beyond those with a row.
    """

    work_type: str | None
    judged: int
    accepted: int
    rework: int
    rejected: int
    unjudged: int
    tokens: float
    squares: float
    work_types: int = 0


@dataclass(frozen=True)
class BudgetUse:
    """Sessions that were given a memory block in the window, by work type, the most frequent first.

    A session's tokens are all it was given in the window. Sums instead of means, so that intervals can be formed.
    """

    scope: Scope
    row: ClassVar[type] = BudgetRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """Injections summed by session first: a session with many retrievals is still one session."""
        given, sessions = schema.context_injection_logs, schema.sessions
        each = (
            select(given.c.org_id, given.c.session_id, cast(func.sum(given.c.tokens_used), Double).label("tokens"))
            .where(self.scope.where(given))
            .group_by(given.c.org_id, given.c.session_id)
            .cte("given")
        )
        its_session = and_(sessions.c.org_id == each.c.org_id, sessions.c.id == each.c.session_id)
        judged = sessions.c.outcome.in_(schema.OUTCOMES)
        work_type = func.left(sessions.c.work_type, LONGEST_NAME)
        ended = [func.count().filter(sessions.c.outcome == name) for name in ("accepted", "rework", "rejected")]
        return (
            select(
                work_type,
                func.count().filter(judged),
                *ended,
                cast(func.count() - func.count().filter(judged), BigInteger),
                func.coalesce(func.sum(each.c.tokens).filter(judged), 0.0),
                func.coalesce(func.sum(each.c.tokens * each.c.tokens).filter(judged), 0.0),
                func.count().over(),
            )
            .select_from(each.join(sessions, its_session))
            .group_by(work_type)
            .order_by(func.count().desc(), work_type)
            .limit(WORK_TYPES)
        )
