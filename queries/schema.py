"""The store as SQLAlchemy Core tables: the platform's own in ``public``, ours in ``rankscope``.

The migrations are the truth of a store that is ours; ``tests/queries/test_migrations.py`` holds both equal.
"""

from __future__ import annotations

from pgvector.sqlalchemy import VECTOR
from sqlalchemy import BigInteger, Boolean, Column, DateTime, Double, Integer, MetaData, Table, Text, Uuid
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

OUTCOMES = ("accepted", "rejected", "rework")
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

ours = MetaData(schema="rankscope")

principals = Table(
    "principals",
    ours,
    Column("name", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("orgs", ARRAY(Text), comment="organizations this principal may see; null: every one"),
    Column("granted_at", MOMENT, nullable=False),
)

flag_changes = Table(
    "flag_changes",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("id", BigInteger, primary_key=True),
    Column("request_id", Uuid, nullable=False),
    Column("flag", Text, nullable=False),
    Column("old_state", Text, nullable=False),
    Column("new_state", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("reverts_id", BigInteger),
    Column("source", Text, nullable=False),
    Column("preview", JSONB),
    Column("changed_at", MOMENT, nullable=False),
)

drift_triage = Table(
    "drift_triage",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("fingerprint", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("verdict", Text),
    Column("owner", Text),
    Column("note", Text, nullable=False),
    Column("snoozed_until", MOMENT),
    Column("version", Integer, nullable=False),
    Column("changed_by", Text, nullable=False),
    Column("changed_at", MOMENT, nullable=False),
)

drift_triage_events = Table(
    "drift_triage_events",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("id", BigInteger, primary_key=True),
    Column("request_id", Uuid, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("old_state", Text, nullable=False),
    Column("new_state", Text, nullable=False),
    Column("verdict", Text),
    Column("note", Text, nullable=False),
    Column("threshold", Double),
    Column("actor", Text, nullable=False),
    Column("changed_at", MOMENT, nullable=False),
)

opposition_pairs = Table(
    "opposition_pairs",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("one", Text, primary_key=True),
    Column("other", Text, primary_key=True),
    Column("changed_by", Text, nullable=False),
    Column("changed_at", MOMENT, nullable=False),
)

saved_views = Table(
    "saved_views",
    ours,
    Column("principal", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("page", Text, nullable=False),
    Column("query", Text, nullable=False),
    Column("created_at", MOMENT, nullable=False),
)

pins = Table(
    "pins",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("id", BigInteger, primary_key=True),
    Column("project_id", Text),
    Column("name", Text, nullable=False),
    Column("query_text", Text, nullable=False),
    Column("expectations", JSONB, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("created_at", MOMENT, nullable=False),
)

exports = Table(
    "exports",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("id", BigInteger, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("format", Text, nullable=False),
    Column("filter", JSONB, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("file_name", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("exported_at", MOMENT, nullable=False),
)

aggregation_runs = Table(
    "aggregation_runs",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("id", BigInteger, primary_key=True),
    Column("project_id", Text),
    Column("state", Text, nullable=False),
    Column("data_version", Text, nullable=False),
    Column("observations", Integer),
    Column("clusters", Integer),
    Column("contradictions", Integer),
    Column("corroborated", Integer),
    Column("elapsed_ms", Double),
    Column("error", Text),
    Column("started_at", MOMENT, nullable=False),
    Column("finished_at", MOMENT),
)

clusters = Table(
    "clusters",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("run_id", BigInteger, primary_key=True),
    Column("observation_id", Uuid, primary_key=True),
    Column("cluster", Integer, nullable=False),
    Column("canonical", Boolean, nullable=False),
    Column("disputed", Boolean, nullable=False),
    Column("corroboration_score", Integer, nullable=False),
    Column("agents", Integer, nullable=False),
    Column("diameter", Integer, nullable=False),
)

simhashes = Table(
    "simhashes",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("observation_id", Uuid, primary_key=True),
    Column("content_hash", Text, nullable=False),
    Column("simhash", BigInteger, nullable=False),
)

rollups = Table(
    "rollups",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("project_id", Text, primary_key=True),
    Column("measure", Text, primary_key=True),
    Column("day", MOMENT, primary_key=True),
    Column("value", Double),
    Column("rows", BigInteger, nullable=False),
)
