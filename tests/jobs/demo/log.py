"""The retrieval log of a demo store, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


class LogRow(NamedTuple):
    org: str
    retrieval: UUID
    session: str
    project: str
    query: str
    observation: UUID
    relevance: float
    weight: float
    weighted: float
    unweighted_rank: int
    weighted_rank: int
    enabled: bool
    injected: bool
    boost: float | None
    at: datetime


LOG = """select org_id, retrieval_id, session_id, project_id, query_text, observation_id, relevance_score,
                feedback_weight, weighted_score, unweighted_rank, weighted_rank, weighting_enabled, injected,
                corroboration_boost, created_at
           from retrieval_ab_logs order by org_id, id"""
