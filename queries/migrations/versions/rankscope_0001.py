"""Our own schema: audit, triage, pins, aggregation results. Touches nothing outside ``rankscope``.

No foreign key leads into the platform's tables: that would put triggers on them.
"""

from alembic import op

revision = "rankscope_0001"
down_revision = None
branch_labels = ("rankscope",)
depends_on = None

TABLES = """
create table rankscope.principals (
  name text primary key,
  role text not null check (role in ('viewer', 'operator', 'admin')),
  orgs text[],
  granted_at timestamptz not null default now()
);
comment on column rankscope.principals.orgs is 'organizations this principal may see; null: every one';

create table rankscope.flag_changes (
  org_id text not null,
  id bigint generated always as identity,
  request_id uuid not null,
  flag text not null,
  old_state text not null check (old_state in ('true', 'false', 'absent')),
  new_state text not null check (new_state in ('true', 'false', 'absent')),
  reason text not null check (btrim(reason) <> ''),
  actor text not null,
  reverts_id bigint,
  source text not null,
  preview jsonb,
  changed_at timestamptz not null default clock_timestamp(),
  primary key (org_id, id)
);

create table rankscope.drift_triage (
  org_id text not null,
  fingerprint text not null,
  state text not null check (
    state in ('new', 'acknowledged', 'investigating', 'resolved', 'false_positive', 'snoozed')),
  verdict text check (verdict in ('older', 'newer', 'both')),
  owner text,
  note text not null default '',
  snoozed_until timestamptz,
  version integer not null default 1,
  changed_by text not null,
  changed_at timestamptz not null default clock_timestamp(),
  primary key (org_id, fingerprint)
);

create table rankscope.drift_triage_events (
  org_id text not null,
  id bigint generated always as identity,
  request_id uuid not null,
  fingerprint text not null,
  old_state text not null,
  new_state text not null,
  verdict text,
  note text not null default '',
  threshold double precision,
  actor text not null,
  changed_at timestamptz not null default clock_timestamp(),
  primary key (org_id, id)
);

create table rankscope.opposition_pairs (
  org_id text not null,
  one text not null,
  other text not null,
  changed_by text not null,
  changed_at timestamptz not null default clock_timestamp(),
  primary key (org_id, one, other)
);

create table rankscope.saved_views (
  principal text not null,
  name text not null,
  page text not null,
  query text not null,
  created_at timestamptz not null default now(),
  primary key (principal, name)
);

create table rankscope.pins (
  org_id text not null,
  id bigint generated always as identity,
  project_id text,
  name text not null,
  query_text text not null,
  expectations jsonb not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  primary key (org_id, id)
);

create table rankscope.exports (
  org_id text not null,
  id bigint generated always as identity,
  kind text not null,
  format text not null,
  filter jsonb not null default '{}',
  rows bigint not null,
  file_name text not null,
  actor text not null,
  exported_at timestamptz not null default clock_timestamp(),
  primary key (org_id, id)
);

create table rankscope.aggregation_runs (
  org_id text not null,
  id bigint generated always as identity,
  project_id text,
  state text not null check (state in ('running', 'done', 'skipped', 'failed')),
  data_version text not null,
  observations integer,
  clusters integer,
  contradictions integer,
  corroborated integer,
  elapsed_ms double precision,
  error text,
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  primary key (org_id, id)
);

create table rankscope.clusters (
  org_id text not null,
  run_id bigint not null,
  observation_id uuid not null,
  cluster integer not null,
  canonical boolean not null,
  disputed boolean not null default false,
  corroboration_score integer not null,
  agents integer not null,
  diameter integer not null,
  primary key (org_id, run_id, observation_id),
  foreign key (org_id, run_id) references rankscope.aggregation_runs (org_id, id) on delete cascade
);

create table rankscope.simhashes (
  org_id text not null,
  observation_id uuid not null,
  content_hash text not null,
  simhash bigint not null,
  primary key (org_id, observation_id)
);

create table rankscope.rollups (
  org_id text not null,
  project_id text not null default '',
  measure text not null,
  day timestamptz not null,
  value double precision,
  rows bigint not null,
  primary key (org_id, project_id, measure, day)
);
"""

# name: (definition, the query it serves)
INDEXES = {
    "unique flag_changes_request": (
        "flag_changes (request_id)",
        "a flag change is applied once however often it is sent",
    ),
    "flag_changes_recent": ("flag_changes (org_id, changed_at)", "flag history of one organization"),
    "unique triage_events_request": (
        "drift_triage_events (request_id)",
        "a verdict is applied once however often it is sent",
    ),
    "triage_events_alert": ("drift_triage_events (org_id, fingerprint, changed_at)", "history of one alert"),
    "runs_recent": ("aggregation_runs (org_id, started_at)", "last aggregation of a scope"),
}

APPEND_ONLY = """
create function rankscope.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = '42501';
end $$;
"""
APPEND_ONLY_TABLES = ("flag_changes", "drift_triage_events", "exports")

SCOPE = """(select current_setting('dash.all_orgs', true)) = 'on' or org_id = any (array(
  select jsonb_array_elements_text(nullif(current_setting('dash.orgs', true), '')::jsonb)))"""
OWN_ROWS = "{column} = (select nullif(current_setting('dash.principal', true), ''))"

TENANT_TABLES = (
    "flag_changes",
    "drift_triage",
    "drift_triage_events",
    "opposition_pairs",
    "pins",
    "exports",
    "aggregation_runs",
    "clusters",
    "simhashes",
    "rollups",
)
WORKING_TABLES = tuple(t for t in TENANT_TABLES if t not in APPEND_ONLY_TABLES)

# On an existing store the roles may have other names or not exist; doctor then prints these grants.
GRANTS = """
do $$
declare grantee text;
begin
  foreach grantee in array array['dash_read', 'dash_write'] loop
    if exists (select from pg_roles where rolname = grantee) then
      execute format('grant usage on schema rankscope to %I', grantee);
      execute format('grant select on all tables in schema rankscope to %I', grantee);
    end if;
  end loop;
  if exists (select from pg_roles where rolname = 'dash_write') then
    grant insert on {append_only} to dash_write;
    grant insert, update, delete on {working}, rankscope.saved_views to dash_write;
  end if;
  if exists (select from pg_roles where rolname = 'memory_write') then
    grant usage on schema rankscope to memory_write;
    grant select on rankscope.aggregation_runs, rankscope.clusters to memory_write;
  end if;
end $$;
"""


def upgrade() -> None:
    op.execute(TABLES)
    for name, (definition, serves) in INDEXES.items():
        unique, _, plain = name.rpartition(" ")
        op.execute(f"create {unique} index {plain} on rankscope.{definition}")
        op.execute(f"comment on index rankscope.{plain} is '{serves}'")
    op.execute(APPEND_ONLY)
    for table in APPEND_ONLY_TABLES:
        op.execute(
            f"create trigger append_only before update or delete or truncate on rankscope.{table} "
            "for each statement execute function rankscope.refuse_change()"
        )
    for table in TENANT_TABLES:
        op.execute(f"alter table rankscope.{table} enable row level security")
        op.execute(f"create policy scope on rankscope.{table} using ({SCOPE}) with check ({SCOPE})")
    for table, column in (("principals", "name"), ("saved_views", "principal")):
        own = OWN_ROWS.format(column=column)
        op.execute(f"alter table rankscope.{table} enable row level security")
        op.execute(f"create policy own on rankscope.{table} using ({own}) with check ({own})")
    op.execute(
        GRANTS.format(
            append_only=", ".join(f"rankscope.{t}" for t in APPEND_ONLY_TABLES),
            working=", ".join(f"rankscope.{t}" for t in WORKING_TABLES),
        )
    )


def downgrade() -> None:
    op.execute(f"drop table {', '.join(f'rankscope.{t}' for t in (*TENANT_TABLES, 'principals', 'saved_views'))}")
    op.execute("drop function rankscope.refuse_change()")
