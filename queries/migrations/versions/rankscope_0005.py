"""Triage that knows which two observations it was about, and an audit of opposition pairs."""

from alembic import op

revision = "rankscope_0005"
down_revision = "rankscope_0004"
branch_labels = None
depends_on = None

# Row security and grants of the tables cover their new columns.
COLUMNS = """
alter table rankscope.drift_triage
  add column older uuid,
  add column newer uuid,
  add column kind text,
  add column found_up_to double precision;
comment on column rankscope.drift_triage.older is 'both sides by id: with a changed text they are another alert';
comment on column rankscope.drift_triage.found_up_to is 'the highest threshold at which the alert is found';

alter table rankscope.drift_triage_events
  add column owner text,
  add column snoozed_until timestamptz;

create table rankscope.opposition_changes (
  org_id text not null,
  id bigint generated always as identity,
  request_id uuid not null,
  action text not null check (action in ('edited', 'reset')),
  added jsonb not null,
  removed jsonb not null,
  digest text not null,
  actor text not null,
  changed_at timestamptz not null default clock_timestamp(),
  primary key (org_id, id)
);
comment on column rankscope.opposition_changes.digest is 'of all pairs after the change';
"""

# name: (definition, the query it serves)
INDEXES = {
    "triage_sides": ("drift_triage (org_id, older, newer)", "earlier alerts about the same two observations"),
    "unique opposition_changes_request": (
        "opposition_changes (request_id)",
        "pairs are changed once however often it is sent",
    ),
    "opposition_changes_recent": ("opposition_changes (org_id, changed_at)", "history of the pairs of an organization"),
}

SCOPE = """(select current_setting('dash.all_orgs', true)) = 'on' or org_id = any (array(
  select jsonb_array_elements_text(nullif(current_setting('dash.orgs', true), '')::jsonb)))"""

# On an existing store the roles may not exist; doctor then prints these grants.
GRANTS = """
do $$
begin
  if exists (select from pg_roles where rolname = 'dash_read') then
    grant select on rankscope.opposition_changes to dash_read;
  end if;
  if exists (select from pg_roles where rolname = 'dash_write') then
    grant select, insert on rankscope.opposition_changes to dash_write;
  end if;
end $$;
"""


def upgrade() -> None:
    op.execute(COLUMNS)
    for name, (definition, serves) in INDEXES.items():
        unique, _, plain = name.rpartition(" ")
        op.execute(f"create {unique} index {plain} on rankscope.{definition}")
        op.execute(f"comment on index rankscope.{plain} is '{serves}'")
    op.execute(
        "create trigger append_only before update or delete or truncate on rankscope.opposition_changes "
        "for each statement execute function rankscope.refuse_change()"
    )
    op.execute("alter table rankscope.opposition_changes enable row level security")
    op.execute(f"create policy scope on rankscope.opposition_changes using ({SCOPE}) with check ({SCOPE})")
    op.execute(GRANTS)


def downgrade() -> None:
    op.execute("drop table rankscope.opposition_changes")
    op.execute("alter table rankscope.drift_triage_events drop column owner, drop column snoozed_until")
    op.execute(
        "alter table rankscope.drift_triage "
        "drop column older, drop column newer, drop column kind, drop column found_up_to"
    )
