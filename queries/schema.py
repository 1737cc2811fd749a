"""The platform's tables, in schema ``public``, as SQLAlchemy Core tables.

The migrations are the truth of a store that is ours; ``tests/queries/test_migrations.py`` holds both equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgvector.sqlalchemy import VECTOR
from sqlalchemy import BigInteger, Boolean, Column, DateTime, Double, Integer, MetaData, Table, Text, Uuid, and_
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, FromClause

# Any other word that a platform lets a session end with is an unknown outcome: neither accepted nor failed.
OUTCOMES = ("accepted", "rejected", "rework")
FAILURES = ("rejected", "rework")
ROUTES = ("full", "user", "assistant", "next_user", "personal_info", "preferences", "events")
MOMENT = DateTime(timezone=True)

platform = MetaData()

organizations = Table(
    "organizations",
    platform,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("features", JSONB),
    Column("created_at", MOMENT, nullable=False),
)

projects = Table(
    "projects",
    platform,
    Column("org_id", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("created_at", MOMENT, nullable=False),
)

sessions = Table(
    "sessions",
    platform,
    Column("org_id", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("project_id", Text),
    Column("agent_id", Text),
    Column("work_type", Text),
    Column("outcome", Text),
    Column("created_at", MOMENT, nullable=False),
    Column("ended_at", MOMENT),
)

observations = Table(
    "observations",
    platform,
    Column("org_id", Text, primary_key=True),
    Column("id", Uuid, primary_key=True),
    Column("project_id", Text),
    Column("agent_id", Text),
    Column("session_id", Text),
    Column("kind", Text, nullable=False),
    Column("reflection_depth", Integer, nullable=False),
    Column("granularity", Text, nullable=False),
    Column("title", Text),
    Column("content", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("source", Text),
    Column("weight", Double, nullable=False),
    Column("importance", Double),
    Column("memory_score", Double),
    Column("tags", ARRAY(Text), nullable=False),
    Column("task_tag", Text),
    Column("status", Text, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    Column("last_accessed_at", MOMENT),
    Column("metadata", JSONB, nullable=False),
    Column("search", TSVECTOR),
)

observation_embeddings = Table(
    "observation_embeddings",
    platform,
    Column("org_id", Text, primary_key=True),
    Column("observation_id", Uuid, primary_key=True),
    Column("route", Text, primary_key=True),
    Column("embedding", VECTOR, nullable=False),
)

retrieval_ab_logs = Table(
    "retrieval_ab_logs",
    platform,
    Column("org_id", Text, primary_key=True),
    Column("id", BigInteger, primary_key=True),
    Column("retrieval_id", Uuid, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("project_id", Text),
    Column("query_text", Text, nullable=False),
    Column("observation_id", Uuid, nullable=False),
    Column("relevance_score", Double),
    Column("feedback_weight", Double),
    Column("weighted_score", Double),
    Column("unweighted_rank", Integer),
    Column("weighted_rank", Integer),
    Column("weighting_enabled", Boolean, nullable=False),
    Column("injected", Boolean),
    Column("corroboration_boost", Double),
    Column("pipeline", Text),
    Column("created_at", MOMENT, nullable=False),
)

observation_weight_history = Table(
    "observation_weight_history",
    platform,
    Column("org_id", Text, primary_key=True),
    Column("id", BigInteger, primary_key=True),
    Column("project_id", Text),
    Column("observation_id", Uuid, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("previous_weight", Double, nullable=False),
    Column("new_weight", Double, nullable=False),
    Column("alpha", Double, nullable=False),
    Column("recorded_at", MOMENT, nullable=False),
)

context_injection_logs = Table(
    "context_injection_logs",
    platform,
    Column("org_id", Text, primary_key=True),
    Column("id", BigInteger, primary_key=True),
    Column("retrieval_id", Uuid, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("project_id", Text),
    Column("work_type", Text),
    Column("token_budget", Integer, nullable=False),
    Column("tokens_used", Integer, nullable=False),
    Column("candidates", Integer, nullable=False),
    Column("observation_ids", ARRAY(Uuid), nullable=False),
    Column("created_at", MOMENT, nullable=False),
)

session_diagnostics = Table(
    "session_diagnostics",
    platform,
    Column("org_id", Text, primary_key=True),
    Column("session_id", Text, primary_key=True),
    Column("outcome", Text),
    Column("injected_observation_ids", ARRAY(Uuid), nullable=False),
    Column("helpful_observation_ids", ARRAY(Uuid), nullable=False),
    Column("misleading_observation_ids", ARRAY(Uuid), nullable=False),
    Column("failure_category", Text),
    Column("created_at", MOMENT, nullable=False),
)


def session_of(rows: FromClause) -> ColumnElement[bool]:
    """Whether a session is the one that rows name."""
    return and_(sessions.c.org_id == rows.c.org_id, sessions.c.id == rows.c.session_id)
