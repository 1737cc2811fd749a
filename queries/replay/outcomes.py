"""How the sessions that retrieved something ended, and whether weighting and the boost were on for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import case, func, select

from queries import schema
from queries.engine import AGGREGATE
from queries.moments import microseconds
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

    from queries.scope import Scope


@dataclass(frozen=True, eq=False)
class SessionEndings:
    """Aligned columns by time: first retrieval in microseconds, on throughout and ever, and acceptance.

    What is on is weighting or the boost. Only sessions with one of the three outcomes; ``unknown`` is how many ended
    with a word of the platform's own.
    """

    at: npt.NDArray[np.int64]
    always: npt.NDArray[np.bool_]
    ever: npt.NDArray[np.bool_]
    accepted: npt.NDArray[np.bool_]
    unknown: int = 0


@dataclass(frozen=True)
class SwitchedSessions:
    """The sessions of a scope with their outcome and whether weighting and the boost were on in their retrievals."""

    scope: Scope
    shape: LogShape = COMPLETE_SHAPE
    limit: float = AGGREGATE

    def statement(self) -> Select[Any]:
        """One row per session that ended."""
        log, sessions = self.shape.rows(self.scope), schema.sessions
        # a retrieval with the boost has one for every candidate, if only of 0
        boosted = log.c.corroboration_boost.is_not(None)
        each = (
            select(
                log.c.org_id,
                log.c.session_id,
                func.min(log.c.at).label("at"),
                func.bool_and(log.c.weighting_enabled).label("always_weighted"),
                func.bool_or(log.c.weighting_enabled).label("ever_weighted"),
                func.bool_and(boosted).label("always_boosted"),
                func.bool_or(boosted).label("ever_boosted"),
            )
            .group_by(log.c.org_id, log.c.session_id)
            .subquery("each")
        )
        its = schema.session_of(each)
        return (
            select(
                microseconds(each.c.at),
                each.c.always_weighted,
                each.c.ever_weighted,
                each.c.always_boosted,
                each.c.ever_boosted,
                sessions.c.outcome == "accepted",
                sessions.c.outcome.in_(schema.OUTCOMES),
            )
            .select_from(each.join(sessions, its))
            .where(self.scope.tenant(sessions), sessions.c.outcome.is_not(None))
            .order_by(each.c.at, each.c.session_id)
        )

    def read(self, connection: Connection) -> tuple[SessionEndings, SessionEndings]:
        """The sessions inside a snapshot that is already open, by weighting and by the boost."""
        at, *flags = list(zip(*connection.execute(self.statement()).all(), strict=True)) or [()] * 7
        *columns, known = (np.array(column, np.bool_) for column in flags)
        weighted, ever_weighted, boosted, ever_boosted, accepted = (column[known] for column in columns)
        moments, unknown = np.array(at, np.int64)[known], int((~known).sum())
        return (
            SessionEndings(moments, weighted, ever_weighted, accepted, unknown),
            SessionEndings(moments, boosted, ever_boosted, accepted, unknown),
        )


@dataclass(frozen=True)
class EndedSessions:
    """The sessions of a scope that ended: whether each was accepted, and how many retrievals it logged there."""

    scope: Scope
    shape: LogShape = COMPLETE_SHAPE

    def statement(self) -> Select[Any]:
        """One row per session that ended; whether it was accepted is null for a word of the platform's own."""
        log, sessions = self.shape.rows(self.scope), schema.sessions
        accepted = case((sessions.c.outcome.in_(schema.OUTCOMES), sessions.c.outcome == "accepted"))
        its = schema.session_of(log)
        return (
            select(log.c.session_id, accepted, func.count(log.c.retrieval.distinct()))
            .select_from(log.join(sessions, its))
            .where(self.scope.tenant(sessions), sessions.c.outcome.is_not(None))
            .group_by(log.c.session_id, sessions.c.outcome)
            .order_by(log.c.session_id)
        )

    def read(self, connection: Connection) -> tuple[dict[str, tuple[bool, int]], int]:
        """Acceptance and retrievals by session inside a snapshot that is already open, and how many ended unknown."""
        rows = connection.execute(self.statement()).all()
        known = {session: (accepted, count) for session, accepted, count in rows if accepted is not None}
        return known, len(rows) - len(known)
