"""One retrieval as it was logged, and the latest ones to choose from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import func, select

from queries import schema
from queries.engine import AGGREGATE, LIST
from queries.moments import datable
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from sqlalchemy import Select

    from queries.scope import Scope

MOST_ROWS = 1_000
LATEST = 50
LONGEST_QUESTION = 1_000


@dataclass(frozen=True)
class LoggedRow:
    """One candidate of a logged retrieval; what its retrieval had in common stands in every row."""

    org_id: str
    project_id: str | None
    session_id: str
    work_type: str | None
    query_text: str
    at: datetime | None
    weighting_enabled: bool | None
    observation_id: str
    unweighted_rank: int | None
    weighted_rank: int | None
    relevance_score: float | None
    feedback_weight: float | None
    weighted_score: float | None
    injected: bool | None


@dataclass(frozen=True)
class LoggedRetrieval:
    """The log rows of one retrieval, whenever it was; none where it is unknown or not in the scope's organizations."""

    scope: Scope
    retrieval: str
    shape: LogShape = COMPLETE_SHAPE
    row: ClassVar[type] = LoggedRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """With the kind of work of its session, if that is still there."""
        log, sessions = self.shape.rows(self.scope, only=self.retrieval), schema.sessions
        its_session = schema.session_of(log)
        others = {"work_type": sessions.c.work_type, "at": datable(log.c.at)}
        about = [others[name] if name in others else log.c[name] for name in LoggedRow.__annotations__]
        return (
            select(*about)
            .select_from(log.outerjoin(sessions, its_session))
            .order_by(log.c.weighted_rank, log.c.observation_id)
            .limit(MOST_ROWS)
        )


@dataclass(frozen=True)
class LatestRow:
    """One retrieval that can be opened."""

    retrieval: str
    at: datetime
    query_text: str
    project_id: str | None


@dataclass(frozen=True)
class LatestRetrievals:
    """The newest retrievals of the scope and its window, newest first."""

    scope: Scope
    shape: LogShape = COMPLETE_SHAPE
    row: ClassVar[type] = LatestRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """Looks at the newest rows only, so that a long log costs no more than a short one."""
        logs, sessions = schema.retrieval_ab_logs, schema.sessions
        its_session = schema.session_of(logs)
        at = logs.c.created_at if self.shape.created_at else sessions.c.created_at
        source = logs if self.shape.created_at else logs.join(sessions, its_session)
        newest = (
            select(
                self.shape.retrieval().label("retrieval"),
                at.label("at"),
                func.left(logs.c.query_text, LONGEST_QUESTION).label("query_text"),
                logs.c.project_id,
            )
            .select_from(source)
            .where(self.scope.where(logs, at))
            .order_by(at.desc())
            .limit(LATEST * 20)
            .subquery("newest")
        )
        return (
            select(
                newest.c.retrieval,
                func.max(newest.c.at),
                func.min(newest.c.query_text),
                func.min(newest.c.project_id),
            )
            .group_by(newest.c.retrieval)
            .order_by(func.max(newest.c.at).desc(), newest.c.retrieval)
            .limit(LATEST)
        )
