"""What an aggregation pass finds, kept whole: contradictions, who disputes a cluster, which texts said nothing."""

from alembic import op

revision = "rankscope_0002"
down_revision = "rankscope_0001"
branch_labels = None
depends_on = None

TABLES = """
create table rankscope.contradictions (
  org_id text not null,
  run_id bigint not null,
  place integer not null,
  fingerprint text not null,
  older uuid not null,
  newer uuid not null,
  kind text not null,
  rule text not null,
  overlap double precision not null,
  severity double precision not null,
  parts jsonb not null,
  evidence jsonb not null,
  primary key (org_id, run_id, place),
  foreign key (org_id, run_id) references rankscope.aggregation_runs (org_id, id) on delete cascade
);
comment on column rankscope.contradictions.place is 'where the detector put it, from 0';

alter table rankscope.clusters
  add column sessions integer not null default 0,
  add column contradicts boolean not null default false;
comment on column rankscope.clusters.contradicts is 'this member contradicts its canonical';

alter table rankscope.simhashes add column tokens integer not null default 0;
comment on column rankscope.simhashes.tokens is 'how many voted; a text in which none did is no evidence';

alter table rankscope.aggregation_runs
  add column active integer,
  add column set_apart integer,
  add column hashed integer,
  add column checked_at timestamptz;
comment on column rankscope.aggregation_runs.active is 'active observations of the scope; the newest were read';
comment on column rankscope.aggregation_runs.set_apart is 'observations left out because their weight is no number';
comment on column rankscope.aggregation_runs.hashed is 'texts that were new or changed';
comment on column rankscope.aggregation_runs.checked_at is 'when the scope was last seen to be unchanged since';
"""

# The result of a scope is its newest finished run.
INDEX = """
create index runs_of_scope on rankscope.aggregation_runs (org_id, project_id, id) where state = 'done';
comment on index rankscope.runs_of_scope is 'the standing result of a scope';
"""

TENANT_TABLES = ("contradictions",)

SCOPE = """(select current_setting('dash.all_orgs', true)) = 'on' or org_id = any (array(
  select jsonb_array_elements_text(nullif(current_setting('dash.orgs', true), '')::jsonb)))"""

GRANTS = """
do $$
begin
  if exists (select from pg_roles where rolname = 'dash_read') then
    grant select on rankscope.contradictions to dash_read;
  end if;
  if exists (select from pg_roles where rolname = 'dash_write') then
    grant select, insert, update, delete on rankscope.contradictions to dash_write;
  end if;
end $$;
"""


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(INDEX)
    for table in TENANT_TABLES:
        op.execute(f"alter table rankscope.{table} enable row level security")
        op.execute(f"create policy scope on rankscope.{table} using ({SCOPE}) with check ({SCOPE})")
    op.execute(GRANTS)


def downgrade() -> None:
    op.execute("drop table rankscope.contradictions")
    op.execute("drop index rankscope.runs_of_scope")
    op.execute("alter table rankscope.clusters drop column sessions, drop column contradicts")
    op.execute("alter table rankscope.simhashes drop column tokens")
    op.execute(
        "alter table rankscope.aggregation_runs "
        "drop column active, drop column set_apart, drop column hashed, drop column checked_at"
    )
