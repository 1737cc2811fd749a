"""Daily sums that nothing ever wrote or read are no longer kept a table for."""

from alembic import op

revision = "rankscope_0007"
down_revision = "rankscope_0006"
branch_labels = None
depends_on = None

SCOPE = """(select current_setting('dash.all_orgs', true)) = 'on' or org_id = any (array(
  select jsonb_array_elements_text(nullif(current_setting('dash.orgs', true), '')::jsonb)))"""

TABLE = """
create table rankscope.rollups (
  org_id text not null,
  project_id text not null default '',
  measure text not null,
  day timestamptz not null,
  value double precision,
  rows bigint not null,
  primary key (org_id, project_id, measure, day)
);
alter table rankscope.rollups enable row level security;
"""

# On an existing store the roles may not exist.
GRANTS = """
do $$
declare grantee text;
begin
  foreach grantee in array array['dash_read', 'dash_write'] loop
    if exists (select from pg_roles where rolname = grantee) then
      execute format('grant select on rankscope.rollups to %I', grantee);
    end if;
  end loop;
  if exists (select from pg_roles where rolname = 'dash_write') then
    grant insert, update, delete on rankscope.rollups to dash_write;
  end if;
end $$;
"""


def upgrade() -> None:
    op.execute("drop table rankscope.rollups")


def downgrade() -> None:
    op.execute(TABLE)
    op.execute(f"create policy scope on rankscope.rollups using ({SCOPE}) with check ({SCOPE})")
    op.execute(GRANTS)
