"""Our own tables, in schema ``rankscope``: audit, triage, pins, aggregation results."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, Identity, Integer, MetaData, Table, Text, Uuid
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from queries.schema import MOMENT

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
    Column("id", BigInteger, Identity(always=True), primary_key=True),
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
    Column("older", Uuid, comment="both sides by id: with a changed text they are another alert"),
    Column("newer", Uuid),
    Column("kind", Text),
    Column("found_up_to", Double, comment="the highest threshold at which the alert is found"),
)

drift_triage_events = Table(
    "drift_triage_events",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("request_id", Uuid, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("old_state", Text, nullable=False),
    Column("new_state", Text, nullable=False),
    Column("verdict", Text),
    Column("note", Text, nullable=False),
    Column("threshold", Double),
    Column("actor", Text, nullable=False),
    Column("changed_at", MOMENT, nullable=False),
    Column("owner", Text),
    Column("snoozed_until", MOMENT),
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

opposition_changes = Table(
    "opposition_changes",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("request_id", Uuid, nullable=False),
    Column("action", Text, nullable=False),
    Column("added", JSONB, nullable=False),
    Column("removed", JSONB, nullable=False),
    Column("digest", Text, nullable=False, comment="of all pairs after the change"),
    Column("actor", Text, nullable=False),
    Column("changed_at", MOMENT, nullable=False),
)

saved_views = Table(
    "saved_views",
    ours,
    Column("principal", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("page", Text, nullable=False),
    Column("query", Text, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    Column("id", Uuid, primary_key=True),
    Column("archived_at", MOMENT, comment="since when it is no longer listed; null: it is"),
)

pins = Table(
    "pins",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("project_id", Text),
    Column("name", Text, nullable=False),
    Column("query_text", Text, nullable=False),
    Column("expectations", JSONB, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    Column("work_type", Text, comment="sets the budget of the block; null: that of other work"),
    Column("archived_by", Text),
    Column("archived_at", MOMENT, comment="since when it is no longer held; null: it is"),
)

exports = Table(
    "exports",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("id", BigInteger, Identity(always=True), primary_key=True),
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
    Column("active", Integer, comment="active observations of the scope; the newest were read"),
    Column("set_apart", Integer, comment="observations left out because their weight is no number"),
    Column("hashed", Integer, comment="texts that were new or changed"),
    Column("checked_at", MOMENT, comment="when the scope was last seen to be unchanged since"),
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
    Column("sessions", Integer, nullable=False),
    Column("contradicts", Boolean, nullable=False, comment="this member contradicts its canonical"),
)

contradictions = Table(
    "contradictions",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("run_id", BigInteger, primary_key=True),
    Column("place", Integer, primary_key=True, comment="where the detector put it, from 0"),
    Column("fingerprint", Text, nullable=False),
    Column("older", Uuid, nullable=False),
    Column("newer", Uuid, nullable=False),
    Column("kind", Text, nullable=False),
    Column("rule", Text, nullable=False),
    Column("overlap", Double, nullable=False),
    Column("severity", Double, nullable=False),
    Column("parts", JSONB, nullable=False),
    Column("evidence", JSONB, nullable=False),
)

simhashes = Table(
    "simhashes",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("observation_id", Uuid, primary_key=True),
    Column("content_hash", Text, nullable=False),
    Column("simhash", BigInteger, nullable=False),
    Column("tokens", Integer, nullable=False, comment="how many voted; a text in which none did is no evidence"),
)

log_writers = Table(
    "log_writers",
    ours,
    Column("org_id", Text, primary_key=True),
    Column("writer", Uuid, primary_key=True),
    Column("name", Text, nullable=False),
    Column("queued", BigInteger, nullable=False),
    Column("written", BigInteger, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("dropped", BigInteger, nullable=False),
    Column("failed", BigInteger, nullable=False),
    Column("last_failure", Text),
    Column("started_at", MOMENT, nullable=False),
    Column("seen_at", MOMENT, nullable=False),
    comment="retrievals of one organization in one logging process, since it started",
)
