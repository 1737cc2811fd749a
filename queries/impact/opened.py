"""One retrieval by its id: every candidate with its scores and both ranks, at full precision."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import and_, func, select

from queries import schema
from queries.engine import LIST
from queries.impact.listed import QUERY_SHOWN
from queries.impact.moves import TEXT_SHOWN
from queries.moments import datable
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from sqlalchemy import Select

    from queries.scope import Scope

MOST_CANDIDATES = 200


@dataclass(frozen=True)
class CandidateRow:
    """One candidate of the retrieval, with what its session and its text say."""

    org_id: str
    at: datetime | None
    query: str
    pipeline: str | None
    weighting_enabled: bool | None
    session_id: str
    agent: str | None
    work_type: str | None
    outcome: str | None
    observation_id: str
    text: str | None
    relevance: float | None
    boost: float | None
    weight: float | None
    weighted: float | None
    unweighted_rank: int | None
    weighted_rank: int | None
    injected: bool | None


@dataclass(frozen=True)
class OpenedRetrieval:
    """The rows of one retrieval in the order that feedback gave them; none for an unknown id or a foreign one."""

    scope: Scope
    retrieval: str
    shape: LogShape = COMPLETE_SHAPE
    row: ClassVar[type] = CandidateRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """The log rows with the start of each text; a deleted observation has none."""
        log = self.shape.rows(self.scope, only=self.retrieval)
        texts, sessions = schema.observations, schema.sessions
        its_text = and_(texts.c.org_id == log.c.org_id, texts.c.id == log.c.observation_id)
        its_session = schema.session_of(log)
        return (
            select(
                log.c.org_id,
                datable(log.c.at),
                func.left(log.c.query_text, QUERY_SHOWN),
                log.c.pipeline,
                log.c.weighting_enabled,
                log.c.session_id,
                sessions.c.agent_id,
                sessions.c.work_type,
                sessions.c.outcome,
                log.c.observation_id,
                func.left(texts.c.content, TEXT_SHOWN),
                log.c.relevance_score,
                log.c.corroboration_boost,
                log.c.feedback_weight,
                log.c.weighted_score,
                log.c.unweighted_rank,
                log.c.weighted_rank,
                log.c.injected,
            )
            .select_from(log.outerjoin(texts, its_text).outerjoin(sessions, its_session))
            .order_by(log.c.org_id, log.c.weighted_rank.nulls_last(), log.c.unweighted_rank, log.c.observation_id)
            .limit(MOST_CANDIDATES)
        )
