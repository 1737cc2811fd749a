"""A log of millions of rows over fifty organizations, as it would have arrived in ninety days, written by the server.

Rows lie in the order of their time, organizations mixed as sessions came in: the first has one retrieval in fourteen,
the last one in seventy-five. Feedback orders candidates by relevance times weight; some retrievals have lost a row or
a score, and in every sixth organization weighting is off. Nothing is random: a size gives the same rows every time.
"""

from datetime import datetime

import psycopg
from psycopg import sql

ORGS, DAYS, POOL, SESSION = 50, 90, 20, 4  # candidates of a retrieval, retrievals of a session
ROWS_OF_A_MEMORY = 40
ROWS_OF_A_CHANGE = 50
FILLED = ("sessions", "observations", "observation_embeddings", "retrieval_ab_logs", "context_injection_logs")

# A number between 0 and 1 that a whole number always gets, another with another salt.
EVEN = """create function pg_temp.even(n bigint, salt int) returns float8 immutable language sql as
            'select (hashint8extended(n, salt) & 1048575) / 1048576.0::float8'"""

# Most weights are what they were at first; one in eight was lowered, some of these to nearly nothing.
WEIGHT = """create function pg_temp.weight(org bigint, memory bigint) returns float8 immutable language sql as
              'select case when pg_temp.even(org * 1000000 + memory, 4) < 0.875 then 1.0
                           else 0.1 + 0.9 * sqrt(pg_temp.even(org * 1000000 + memory, 5)) end'"""
MEMORY = """create function pg_temp.memory(org bigint, memory bigint) returns uuid immutable language sql as
              $$select md5(org || '/' || memory)::uuid$$"""

ORGANIZATIONS = """
    insert into organizations (id, name, features, created_at)
    select 'org_' || lpad(n::text, 2, '0'), 'Organization ' || n,
           jsonb_build_object('feedback_weighting_disabled', mod(n, 6) = 5), %(now)s - interval '200 days'
      from generate_series(0, %(orgs)s - 1) n"""

# What everything else is made of.
ARRIVED = """
    create temporary table arrived as
    select n, org, 'org_' || lpad(org::text, 2, '0') as org_id, md5('r' || n)::uuid as retrieval_id,
           's' || session as session_id, 'p' || mod(session, 3) as project_id,
           %(now)s - %(days)s * interval '1 day' * (1 - n / %(retrievals)s::float8) as at
      from (select n, session, floor(%(orgs)s * pg_temp.even(session, 1) ^ 1.5)::int as org
              from (select n, n / %(session)s as session from generate_series(0, %(retrievals)s - 1) n) every) each
     order by n"""

SESSIONS = """
    insert into sessions (org_id, id, project_id, agent_id, work_type, outcome, created_at, ended_at)
    select org_id, session_id, project_id, 'agent-' || mod(n / %(session)s, 40), 'work ' || mod(n / %(session)s, 7),
           (array['accepted', 'accepted', 'accepted', 'rework', 'rejected', null])[1 + mod(n / %(session)s, 6)], at,
           at + interval '20 minutes'
      from arrived where mod(n, %(session)s) = 0 order by n"""

DIAGNOSED = """
    insert into session_diagnostics (org_id, session_id, outcome, misleading_observation_ids, created_at)
    select org_id, session_id, 'rejected',
           case when mod(n / %(session)s, 12) = 4 then array[pg_temp.memory(org, 1)] else '{}' end, at
      from arrived where mod(n, %(session)s) = 0 and mod(n / %(session)s, 6) = 4"""

# The last of each organization is the memory that every second retrieval finds.
OBSERVATIONS = """
    insert into observations (org_id, id, project_id, agent_id, session_id, title, content, content_hash, weight,
                              created_at, last_accessed_at)
    select 'org_' || lpad(org::text, 2, '0'), pg_temp.memory(org, memory), 'p' || mod(memory, 3),
           'agent-' || mod(memory, 40), 's' || memory, 'memory ' || memory,
           format('The %%s of service %%s is set to %%s by job %%s.',
                  (array['timeout', 'limit', 'port', 'region'])[1 + mod(memory, 4)], memory / 3, mod(memory, 97), org),
           md5((memory - case when mod(memory, 30) = 0 then 120 else 0 end)::text), pg_temp.weight(org, memory),
           %(now)s - interval '200 days' * pg_temp.even(memory, 6),
           case when pg_temp.even(memory, 7) < 0.6 then %(now)s - interval '60 days' * pg_temp.even(memory, 8) end
      from generate_series(0, %(memories)s) memory, generate_series(0, %(orgs)s - 1) org"""

# Of a vector nothing here reads more than its length.
VECTORS = """
    insert into observation_embeddings (org_id, observation_id, route, embedding)
    select org_id, id, 'full', array[1, 2, 3, 4]::vector from observations where right(id::text, 2) <> '00'"""

WEIGHED = """
    insert into observation_weight_history (org_id, project_id, observation_id, session_id, outcome, previous_weight,
                                            new_weight, alpha, recorded_at)
    select org_id, project_id, id, session_id, 'rework', 1, weight, 0.1, created_at + (%(now)s - created_at) / 2
      from observations where weight < 1"""

LOG = """
    insert into retrieval_ab_logs (org_id, retrieval_id, session_id, project_id, query_text, observation_id,
        relevance_score, feedback_weight, weighted_score, unweighted_rank, weighted_rank, weighting_enabled, injected,
        created_at)
    select org_id, retrieval_id, session_id, project_id, 'how is service ' || mod(n, 997) || ' set up', memory,
           case when mod(n, 211) = 0 and place = 7 then 'nan' else relevance end, weight, weighted, place, rank,
           mod(org, 6) <> 5, rank < 5, at
      from arrived, lateral (
        select place, pg_temp.memory(org, memory) as memory, relevance, weight, relevance * weight as weighted,
               row_number() over (order by relevance * weight desc, place) - 1 as rank
          from (
            select place, memory, 0.9 - 0.025 * place - 0.02 * pg_temp.even(n * 20 + place, 3) as relevance,
                   case when mod(org, 6) = 5 then 1.0 else pg_temp.weight(org, memory) end as weight
              from (
                select place, case when place = 3 and mod(n, 2) = 0 then %(memories)s
                    else mod(floor(%(memories)s * pg_temp.even(n, 2) ^ 2)::int + place * 37, %(memories)s) end as memory
                  from generate_series(0, %(pool)s - 1) place) found) weighed) ranked
     where not (mod(n, 53) = 0 and place = 11)"""

GIVEN = """
    insert into context_injection_logs (org_id, retrieval_id, session_id, project_id, work_type, token_budget,
                                        tokens_used, candidates, observation_ids, created_at)
    select org_id, case when mod(n, 307) = 0 then gen_random_uuid() else retrieval_id end, session_id, project_id,
           'work ' || mod(n, 7), 2000, 400 + mod(n, 1500), %(pool)s,
           case when mod(n, 97) = 0 then '{}' else array[pg_temp.memory(org, 1), pg_temp.memory(org, 2)] end, at
      from arrived order by n"""

# One in twenty takes back the one before it.
TURNED = """
    insert into rankscope.flag_changes (org_id, request_id, flag, old_state, new_state, reason, actor, source,
                                        reverts_id, changed_at)
    select %(org)s, gen_random_uuid(), 'corroboration_boost_enabled', 'absent', 'true', 'trial ' || n, 'pia',
           'benchmark', case when mod(n, 20) = 0 then n - 1 end,
           %(now)s - %(days)s * interval '1 day' * (1 - n / %(changes)s::float8)
      from generate_series(1, %(changes)s) n order by n"""

OF_TABLE = """select indexname, indexdef from pg_indexes
               where schemaname = 'public' and tablename = any(%s) and not indexname like '%%_pkey'"""


def fill(owner: psycopg.Connection, rows: int, now: datetime) -> None:
    """A store with about so many log rows until ``now``; indexes are made once all is there, and all is analysed."""
    retrievals = rows // POOL
    sizes = {"orgs": ORGS, "days": DAYS, "pool": POOL, "session": SESSION, "retrievals": retrievals}
    given = sizes | {"now": now, "memories": rows // ROWS_OF_A_MEMORY // ORGS}
    owner.execute("set work_mem = '256MB'; set maintenance_work_mem = '1GB'")
    for function in (EVEN, WEIGHT, MEMORY):
        owner.execute(function)
    indexes = owner.execute(OF_TABLE, (list(FILLED),)).fetchall()
    for name, _ in indexes:
        owner.execute(sql.SQL("drop index {}").format(sql.Identifier(name)))
    for statement in (ORGANIZATIONS, ARRIVED, SESSIONS, DIAGNOSED, OBSERVATIONS, VECTORS, WEIGHED, LOG, GIVEN):
        owner.execute(statement, given, prepare=False)
    for _, definition in indexes:
        owner.execute(definition)
    owner.execute("drop table arrived")
    owner.execute("vacuum analyze")


def turn_flags(owner: psycopg.Connection, org: str, rows: int, now: datetime) -> int:
    """A history of flags as long as a list can be asked to bear, which no page is meant to have; how many changes."""
    changes = rows // ROWS_OF_A_CHANGE
    owner.execute(TURNED, {"org": org, "changes": changes, "now": now, "days": DAYS})
    owner.execute("vacuum analyze rankscope.flag_changes")
    return changes
