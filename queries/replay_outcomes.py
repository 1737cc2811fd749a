"""How the sessions that retrieved something ended, and whether feedback weighed in what they were given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import and_, func, select

from queries import schema
from queries.engine import AGGREGATE
from queries.moments import microseconds
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

    from queries.scope import Scope


@dataclass(frozen=True, eq=False)
class SessionEndings:
    """Aligned columns by time: first retrieval in microseconds, weighting throughout and ever, and acceptance.

    Only sessions that ended one way or another.
    """

    at: npt.NDArray[np.int64]
    always: npt.NDArray[np.bool_]
    ever: npt.NDArray[np.bool_]
    accepted: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class WeightedSessions:
    """The sessions of a scope with their outcome and whether weighting was on in their retrievals."""

    scope: Scope
    shape: LogShape = COMPLETE_SHAPE
    limit: float = AGGREGATE

    def statement(self) -> Select[Any]:
        """One row per session that has an outcome."""
        log, sessions = self.shape.rows(self.scope), schema.sessions
        each = (
            select(
                log.c.org_id,
                log.c.session_id,
                func.min(log.c.at).label("at"),
                func.bool_and(log.c.weighting_enabled).label("always"),
                func.bool_or(log.c.weighting_enabled).label("ever"),
            )
            .group_by(log.c.org_id, log.c.session_id)
            .subquery("each")
        )
        its = and_(sessions.c.org_id == each.c.org_id, sessions.c.id == each.c.session_id)
        return (
            select(
                microseconds(each.c.at),
                each.c.always,
                each.c.ever,
                sessions.c.outcome == "accepted",
            )
            .select_from(each.join(sessions, its))
            .where(self.scope.tenant(sessions), sessions.c.outcome.is_not(None))
            .order_by(each.c.at, each.c.session_id)
        )

    def read(self, connection: Connection) -> SessionEndings:
        """The sessions inside a snapshot that is already open."""
        at, *flags = list(zip(*connection.execute(self.statement()).all(), strict=True)) or [()] * 4
        always, ever, accepted = (np.array(column, np.bool_) for column in flags)
        return SessionEndings(np.array(at, np.int64), always, ever, accepted)
