"""The platform's store as the documents describe it: tables, indexes, roles, row-level security.

Applied only to a store that is ours: embedded, or made by ``python -m jobs migrate --create-store``.
"""

from alembic import op

revision = "platform_0001"
down_revision = None
branch_labels = ("platform",)
depends_on = None

TABLES = """
create extension if not exists vector;

create table organizations (
  id text primary key,
  name text not null,
  features jsonb default '{}',
  created_at timestamptz not null default now()
);

create table projects (
  org_id text not null references organizations (id) on delete cascade,
  id text not null,
  name text not null,
  created_at timestamptz not null default now(),
  primary key (org_id, id)
);

create table sessions (
  org_id text not null references organizations (id) on delete cascade,
  id text not null,
  project_id text,
  agent_id text,
  work_type text,
  outcome text check (outcome in ('accepted', 'rejected', 'rework')),
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (org_id, id)
);

create table observations (
  org_id text not null references organizations (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  project_id text,
  agent_id text,
  session_id text,
  kind text not null default 'observation' check (kind in ('observation', 'reflection')),
  reflection_depth integer not null default 0,
  granularity text not null default 'observation' check (granularity in ('observation', 'turn', 'session')),
  title text,
  content text not null,
  content_hash text not null,
  source text,
  weight double precision not null default 1.0,
  importance double precision,
  memory_score double precision default 0.5,
  tags text[] not null default '{}',
  task_tag text,
  status text not null default 'active',
  created_at timestamptz not null default now(),
  last_accessed_at timestamptz,
  metadata jsonb not null default '{}',
  search tsvector generated always as (to_tsvector('english', coalesce(task_tag, '') || ' ' || content)) stored,
  primary key (org_id, id)
);

create table observation_embeddings (
  org_id text not null,
  observation_id uuid not null,
  route text not null check (
    route in ('full', 'user', 'assistant', 'next_user', 'personal_info', 'preferences', 'events')),
  embedding vector not null,
  primary key (org_id, observation_id, route),
  foreign key (org_id, observation_id) references observations (org_id, id) on delete cascade
);

create table retrieval_ab_logs (
  org_id text not null,
  id bigint generated always as identity,
  retrieval_id uuid not null default gen_random_uuid(),
  session_id text not null,
  project_id text,
  query_text text not null,
  observation_id uuid not null,
  relevance_score double precision,
  feedback_weight double precision,
  weighted_score double precision,
  unweighted_rank integer,
  weighted_rank integer,
  weighting_enabled boolean not null,
  injected boolean,
  corroboration_boost double precision,
  pipeline text,
  created_at timestamptz not null default now(),
  primary key (org_id, id)
);

create table observation_weight_history (
  org_id text not null,
  id bigint generated always as identity,
  project_id text,
  observation_id uuid not null,
  session_id text not null,
  outcome text not null check (outcome in ('accepted', 'rejected', 'rework')),
  previous_weight double precision not null,
  new_weight double precision not null,
  alpha double precision not null,
  recorded_at timestamptz not null default now(),
  primary key (org_id, id)
);

create table context_injection_logs (
  org_id text not null,
  id bigint generated always as identity,
  retrieval_id uuid not null,
  session_id text not null,
  project_id text,
  work_type text,
  token_budget integer not null,
  tokens_used integer not null,
  candidates integer not null,
  observation_ids uuid[] not null default '{}',
  created_at timestamptz not null default now(),
  primary key (org_id, id)
);

create table session_diagnostics (
  org_id text not null,
  session_id text not null,
  outcome text,
  injected_observation_ids uuid[] not null default '{}',
  helpful_observation_ids uuid[] not null default '{}',
  misleading_observation_ids uuid[] not null default '{}',
  failure_category text,
  created_at timestamptz not null default now(),
  primary key (org_id, session_id)
);
"""

# name: (definition, the query it serves)
INDEXES = {
    "sessions_recent": ("sessions (org_id, created_at) include (outcome)", "Overview: outcome mix of a window"),
    "observations_recent": (
        "observations (org_id, created_at) include (project_id) where status = 'active'",
        "Overview: active observations; the newest 10 000 of a scope",
    ),
    "observations_search": ("observations using gin (search)", "the keyword leg of a retrieval"),
    "observations_content": ("observations (org_id, content_hash)", "exact duplicates of one observation"),
    "embeddings_full": (
        """observation_embeddings using hnsw ((embedding::vector(256)) vector_cosine_ops)
             where route = 'full' and vector_dims(embedding) = 256""",
        "the full-vector leg of a retrieval",
    ),
    "logs_recent": (
        "retrieval_ab_logs (org_id, created_at, id)",
        "every figure over a window of the log; keyset pages",
    ),
    "logs_retrieval": ("retrieval_ab_logs (org_id, retrieval_id)", "one retrieval opened by its address"),
    "logs_observation": ("retrieval_ab_logs (org_id, observation_id, created_at)", "retrievals of one observation"),
    "weights_observation": (
        "observation_weight_history (org_id, observation_id, recorded_at)",
        "weight history of one observation",
    ),
    "weights_session": ("observation_weight_history (org_id, session_id)", "an outcome is recorded once per session"),
    "injections_recent": ("context_injection_logs (org_id, created_at)", "tokens injected over a window"),
    "injections_session": ("context_injection_logs (org_id, session_id)", "what one session was given"),
}

# Subselects, so that Postgres evaluates the settings once per statement and not once per row.
# A setting that was set for an earlier transaction reads as '' and not as null.
SCOPE = """(select current_setting('dash.all_orgs', true)) = 'on' or {column} = any (array(
  select jsonb_array_elements_text(nullif(current_setting('dash.orgs', true), '')::jsonb)))"""

TENANT_TABLES = (
    "projects",
    "sessions",
    "observations",
    "observation_embeddings",
    "retrieval_ab_logs",
    "observation_weight_history",
    "context_injection_logs",
    "session_diagnostics",
)

# Roles belong to the whole server: another database may have made them, or be making them now.
ROLES = """
do $$
declare wanted text;
begin
  perform pg_advisory_xact_lock(hashtext('rankscope roles'));
  foreach wanted in array array['dash_read', 'dash_write', 'memory_write'] loop
    if not exists (select from pg_roles where rolname = wanted) then
      begin
        execute format(
          'create role %I login nosuperuser nocreatedb nocreaterole nobypassrls connection limit 30', wanted);
        execute format('alter role %I set statement_timeout = %L', wanted,
          case wanted when 'dash_read' then '5s' else '30s' end);
        execute format('alter role %I set lock_timeout = %L', wanted,
          case wanted when 'dash_read' then '1s' else '2s' end);
        execute format('alter role %I set idle_in_transaction_session_timeout = %L', wanted, '10s');
        execute format('alter role %I set client_connection_check_interval = %L', wanted, '1s');
        execute format('alter role %I set work_mem = %L', wanted, '64MB');
        if wanted = 'dash_read' then
          execute format('alter role %I set default_transaction_read_only = on', wanted);
        end if;
      exception when duplicate_object or unique_violation then null;
      end;
    end if;
  end loop;
end $$;
"""

GRANTS = """
revoke create on schema public from public;
do $$ begin execute format('revoke temporary on database %I from public', current_database()); end $$;
grant usage on schema public to dash_read, dash_write, memory_write;
grant select on organizations, {tenant_tables} to dash_read, dash_write, memory_write;
grant update (features) on organizations to dash_write;
grant insert on retrieval_ab_logs, context_injection_logs, observation_weight_history to memory_write;
grant update (weight, last_accessed_at) on observations to memory_write;
grant update (outcome, ended_at) on sessions to memory_write;
"""

# Text search operators are not leakproof, so row security would keep their index from being used.
LEAKPROOF = """
do $$ begin
  if (select rolsuper from pg_roles where rolname = current_user) then
    alter function ts_match_vq(tsvector, tsquery) leakproof;
  end if;
end $$;
"""


def upgrade() -> None:
    op.execute(TABLES)
    for name, (definition, serves) in INDEXES.items():
        op.execute(f"create index {name} on {definition}")
        op.execute(f"comment on index {name} is '{serves}'")
    op.execute(ROLES)
    op.execute(GRANTS.format(tenant_tables=", ".join(TENANT_TABLES)))
    for table in ("organizations", *TENANT_TABLES):
        scope = SCOPE.format(column="id" if table == "organizations" else "org_id")
        op.execute(f"alter table {table} enable row level security")
        roles = "dash_read, dash_write, memory_write"
        op.execute(f"create policy scope on {table} to {roles} using ({scope}) with check ({scope})")
    op.execute(LEAKPROOF)


def downgrade() -> None:
    op.execute(f"drop table {', '.join((*reversed(TENANT_TABLES), 'organizations'))}")
