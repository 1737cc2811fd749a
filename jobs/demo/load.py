"""The demo's rows into a store, all in one transaction: a store is empty or filled, never half."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs.demo.texts import organizations
from queries import own_schema, schema
from queries.load import analyze, claim_empty, copy_rows

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

# In an order that foreign keys accept.
TABLES = (
    schema.organizations,
    schema.projects,
    schema.sessions,
    schema.observations,
    schema.retrieval_ab_logs,
    schema.context_injection_logs,
    schema.observation_weight_history,
    schema.session_diagnostics,
    own_schema.flag_changes,
)


def fill(connection: Connection, now: datetime) -> dict[str, int] | None:
    """Rows written by table, or ``None`` where the store already holds organizations and stays as it is."""
    if not claim_empty(connection):
        return None
    from jobs.demo.history import history  # noqa: PLC0415 - brings the ranking library, which a filled store need not wait for

    histories = [history(org, now) for org in organizations()]
    written = {}
    for table in TABLES:
        # Identities are handed out in the order of arrival, so a later log row has the higher one.
        rows = [row for found in histories for row in found.get(table.name, ())]
        written[table.name] = copy_rows(connection, table, rows)
    analyze(connection, TABLES)
    return written
