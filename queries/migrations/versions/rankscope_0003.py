"""What each process that logs retrievals has written and lost, so that whoever watches can see it from another one."""

from alembic import op

revision = "rankscope_0003"
down_revision = "rankscope_0002"
branch_labels = None
depends_on = None

TABLE = """
create table rankscope.log_writers (
  org_id text not null,
  writer uuid not null,
  name text not null,
  queued bigint not null,
  written bigint not null,
  rows bigint not null,
  dropped bigint not null,
  failed bigint not null,
  last_failure text,
  started_at timestamptz not null,
  seen_at timestamptz not null default clock_timestamp(),
  primary key (org_id, writer)
);
comment on table rankscope.log_writers is 'retrievals of one organization in one logging process, since it started';
"""

INDEXES = {"log_writers_recent": ("log_writers (org_id, seen_at)", "what the log lost in a window")}

SCOPE = """(select current_setting('dash.all_orgs', true)) = 'on' or org_id = any (array(
  select jsonb_array_elements_text(nullif(current_setting('dash.orgs', true), '')::jsonb)))"""

# On an existing store the roles may not exist; doctor then prints these grants.
GRANTS = """
do $$
declare grantee text;
begin
  foreach grantee in array array['dash_read', 'dash_write', 'memory_write'] loop
    if exists (select from pg_roles where rolname = grantee) then
      execute format('grant usage on schema rankscope to %I', grantee);
      execute format('grant select on rankscope.log_writers to %I', grantee);
    end if;
  end loop;
  if exists (select from pg_roles where rolname = 'memory_write') then
    grant insert, update on rankscope.log_writers to memory_write;
  end if;
end $$;
"""


def upgrade() -> None:
    op.execute(TABLE)
    for name, (definition, serves) in INDEXES.items():
        op.execute(f"create index {name} on rankscope.{definition}")
        op.execute(f"comment on index rankscope.{name} is '{serves}'")
    op.execute("alter table rankscope.log_writers enable row level security")
    op.execute(f"create policy scope on rankscope.log_writers using ({SCOPE}) with check ({SCOPE})")
    op.execute(GRANTS)


def downgrade() -> None:
    op.execute("drop table rankscope.log_writers")
