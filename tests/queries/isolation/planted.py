"""A row of each organization in every table that knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests import sample

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[Any]

ORGS = ("org_a", "org_b", "org_c")


READABLE = """
    select c.oid::regclass::text, exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'org_id')
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname not in ('pg_catalog', 'information_schema')
       and has_table_privilege(%s, c.oid, 'select')
       and c.oid <> 'rankscope.alembic_version'::regclass -- names our own revisions and nothing of any tenant
"""


def plant(owner: Connection) -> None:
    for org in ORGS:
        sample.add_organization(owner, org)
        ids = sample.add_observations(owner, org, 2)
        sample.add_session(owner, org, "session-1")
        sample.add_retrieval(owner, org, sample.unchanged(2), name="r1")
        for statement in (
            "insert into observation_embeddings values (%(org)s, %(id)s, 'full', '[1,2,3]')",
            """insert into observation_weight_history (org_id, observation_id, session_id, outcome, previous_weight,
                 new_weight, alpha) values (%(org)s, %(id)s, 's', 'accepted', 1, 1, 0.1)""",
            """insert into context_injection_logs
                 (org_id, retrieval_id, session_id, token_budget, tokens_used, candidates)
                 values (%(org)s, %(id)s, 's', 1, 1, 1)""",
            "insert into session_diagnostics (org_id, session_id) values (%(org)s, 's')",
            """insert into rankscope.flag_changes
                 (org_id, request_id, flag, old_state, new_state, reason, actor, source)
                 values (%(org)s, gen_random_uuid(), 'f', 'true', 'false', 'why', 'who', 'page')""",
            """insert into rankscope.drift_triage (org_id, fingerprint, state, changed_by)
                 values (%(org)s, 'f', 'new', 'w')""",
            """insert into rankscope.drift_triage_events (org_id, request_id, fingerprint, old_state, new_state, actor)
                 values (%(org)s, gen_random_uuid(), 'f', 'new', 'resolved', 'who')""",
            "insert into rankscope.opposition_pairs (org_id, one, other, changed_by) values (%(org)s, 'a', 'b', 'who')",
            """insert into rankscope.opposition_changes (org_id, request_id, action, added, removed, digest, actor)
                 values (%(org)s, gen_random_uuid(), 'reset', '[]', '[]', '', 'who')""",
            """insert into rankscope.pins (org_id, name, query_text, expectations, created_by)
                 values (%(org)s, 'n', 'q', '{}', 'who')""",
            """insert into rankscope.exports (org_id, kind, format, rows, file_name, actor)
                 values (%(org)s, 'k', 'csv', 1, 'f', 'who')""",
            """with run as (insert into rankscope.aggregation_runs (org_id, state, data_version)
                 values (%(org)s, 'done', 'v') returning org_id, id)
               insert into rankscope.clusters (org_id, run_id, observation_id, cluster, canonical, corroboration_score,
                 agents, diameter) select org_id, id, %(id)s, 0, true, 1, 1, 0 from run""",
            """insert into rankscope.log_writers values
                 (%(org)s, gen_random_uuid(), 'agents', 0, 1, 20, 0, 0, null, now())""",
            """insert into rankscope.contradictions
                 select org_id, id, 0, 'f', %(id)s, %(id)s, 'value', 'r', 1, 1, '{}', '[]'
                   from rankscope.aggregation_runs where org_id = %(org)s""",
            "insert into rankscope.simhashes values (%(org)s, %(id)s, 'h', 1)",
        ):
            owner.execute(statement, {"org": org, "id": ids[0]})
    owner.execute("insert into rankscope.principals (name, role) values ('someone', 'viewer'), ('other', 'viewer')")
    owner.execute(
        """insert into rankscope.saved_views (principal, name, page, query)
             values ('someone', 'n', 'p', ''), ('other', 'n', 'p', '')"""
    )


def relations(owner: Connection, role: str) -> list[tuple[str, bool]]:
    return owner.execute(READABLE, (role,)).fetchall()


def scoped(connection: Connection, setting: str) -> None:
    connection.execute("select set_config('dash.orgs', %s, true)", (setting,))
