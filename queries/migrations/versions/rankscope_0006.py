"""Saved views that are archived instead of deleted, and log writers that the aggregator forgets after long silence."""

from alembic import op

revision = "rankscope_0006"
down_revision = "rankscope_0005"
branch_labels = None
depends_on = None

# Row security and grants of the table cover its new columns.
COLUMNS = """
alter table rankscope.saved_views
  add column id uuid not null default gen_random_uuid(),
  add column archived_at timestamptz,
  drop constraint saved_views_pkey,
  add primary key (principal, id);
comment on column rankscope.saved_views.archived_at is 'since when it is no longer listed; null: it is';
"""

INDEX = """
create unique index saved_views_standing on rankscope.saved_views (principal, name) where archived_at is null;
comment on index rankscope.saved_views_standing is 'the views a principal keeps, each name once';
"""

# On an existing store the role may not exist; doctor then prints this grant.
GRANTS = """
do $$
begin
  if exists (select from pg_roles where rolname = 'dash_write') then
    grant delete on rankscope.log_writers to dash_write;
  end if;
end $$;
"""

BACK = """
delete from rankscope.saved_views where archived_at is not null;
drop index rankscope.saved_views_standing;
alter table rankscope.saved_views
  drop constraint saved_views_pkey,
  drop column id,
  drop column archived_at,
  add primary key (principal, name);
do $$
begin
  if exists (select from pg_roles where rolname = 'dash_write') then
    revoke delete on rankscope.log_writers from dash_write;
  end if;
end $$;
"""


def upgrade() -> None:
    op.execute(COLUMNS)
    op.execute(INDEX)
    op.execute(GRANTS)


def downgrade() -> None:
    op.execute(BACK)
