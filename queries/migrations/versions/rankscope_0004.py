"""Pins that are archived instead of deleted, and that name the work whose budget they are held under."""

from alembic import op

revision = "rankscope_0004"
down_revision = "rankscope_0003"
branch_labels = None
depends_on = None

# Row security and grants of the table cover its new columns.
COLUMNS = """
alter table rankscope.pins
  add column work_type text,
  add column archived_by text,
  add column archived_at timestamptz,
  add constraint pins_archived_by_someone check ((archived_by is null) = (archived_at is null));
comment on column rankscope.pins.work_type is 'sets the budget of the block; null: that of other work';
comment on column rankscope.pins.archived_at is 'since when it is no longer held; null: it is';
"""

INDEX = """
create unique index pins_standing on rankscope.pins (org_id, name) where archived_at is null;
comment on index rankscope.pins_standing is 'the pins an organization holds, each name once';
"""


def upgrade() -> None:
    op.execute(COLUMNS)
    op.execute(INDEX)


def downgrade() -> None:
    op.execute("drop index rankscope.pins_standing")
    op.execute("alter table rankscope.pins drop column work_type, drop column archived_by, drop column archived_at")
