"""Schema ``demo``: what was planted in a demo store, so that tests and readers can hold what is found against it.

Only the demo job creates it. Its tables are tenants' rows like any other: the read login sees those of its scope.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Column, Integer, MetaData, Table, Text, Uuid, text

if TYPE_CHECKING:
    from sqlalchemy import Connection

truth = MetaData(schema="demo")

families = Table(
    "families",
    truth,
    Column("org_id", Text, primary_key=True),
    Column("family", Integer, primary_key=True),
    Column("observation_id", Uuid, primary_key=True),
    Column("project_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
)

contradictions = Table(
    "contradictions",
    truth,
    Column("org_id", Text, primary_key=True),
    Column("older", Uuid, primary_key=True),
    Column("newer", Uuid, primary_key=True),
    Column("project_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
)

traps = Table(
    "traps",
    truth,
    Column("org_id", Text, primary_key=True),
    Column("older", Uuid, primary_key=True),
    Column("newer", Uuid, primary_key=True),
    Column("project_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
)

wrong = Table(
    "wrong",
    truth,
    Column("org_id", Text, primary_key=True),
    Column("observation_id", Uuid, primary_key=True),
    Column("reason", Text, nullable=False),
)

lost_rows = Table(
    "lost_rows",
    truth,
    Column("org_id", Text, primary_key=True),
    Column("retrieval_id", Uuid, primary_key=True),
    Column("observation_id", Uuid, primary_key=True),
    Column("unweighted_rank", Integer, nullable=False),
    Column("weighted_rank", Integer, nullable=False),
)

CREATE = """
create schema demo;
comment on schema demo is 'what the demo job planted; nothing outside the tests depends on it';

create table demo.families (
  org_id text not null, family integer not null, observation_id uuid not null, project_id text not null,
  kind text not null check (kind in ('one_agent', 'several_agents', 'chained', 'disputed', 'restated')),
  primary key (org_id, family, observation_id)
);

create table demo.contradictions (
  org_id text not null, older uuid not null, newer uuid not null, project_id text not null,
  kind text not null check (kind in ('opposition', 'negation', 'value', 'superseded')),
  primary key (org_id, older, newer)
);

create table demo.traps (
  org_id text not null, older uuid not null, newer uuid not null, project_id text not null, kind text not null,
  primary key (org_id, older, newer)
);

create table demo.wrong (
  org_id text not null, observation_id uuid not null,
  reason text not null check (reason in ('misleading', 'outdated')),
  primary key (org_id, observation_id)
);

create table demo.lost_rows (
  org_id text not null, retrieval_id uuid not null, observation_id uuid not null,
  unweighted_rank integer not null, weighted_rank integer not null,
  primary key (org_id, retrieval_id, observation_id)
);

do $$
declare name text;
begin
  foreach name in array array['families', 'contradictions', 'traps', 'wrong', 'lost_rows'] loop
    execute format('alter table demo.%I enable row level security', name);
    execute format($policy$
      create policy scope on demo.%I to dash_read using (
        (select current_setting('dash.all_orgs', true)) = 'on' or org_id = any (array(
          select jsonb_array_elements_text(nullif(current_setting('dash.orgs', true), '')::jsonb))))
    $policy$, name);
    execute format('grant select on demo.%I to dash_read', name);
  end loop;
end $$;
grant usage on schema demo to dash_read;
"""


def create_truth(connection: Connection) -> None:
    """Create the schema with its tables, and let the read login see its scope of them."""
    connection.execute(text(CREATE.replace(":", r"\:")))
