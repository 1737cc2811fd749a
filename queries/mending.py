"""SQL that would mend a store, as text for its owner to read and run. Rankscope itself never executes any of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlalchemy.dialects import postgresql

from queries import schema
from queries.migrations.versions import (
    platform_0001,
    rankscope_0001,
    rankscope_0002,
    rankscope_0003,
    rankscope_0005,
    rankscope_0006,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call]

ROLES = f"""-- Creates the roles that are missing; give each a password afterwards, in psql with \\password dash_read.
{platform_0001.ROLES.strip()}"""

DROPPED = ("rollups",)  # by rankscope_0007: named, the grants would fail in a store that is up to date

OUR_GRANTS = (
    rankscope_0001.GRANTS.format(
        append_only=", ".join(f"rankscope.{table}" for table in rankscope_0001.APPEND_ONLY_TABLES),
        working=", ".join(
            f"rankscope.{table}"
            for table in (*rankscope_0001.WORKING_TABLES, *rankscope_0002.TENANT_TABLES)
            if table not in DROPPED
        ),
    )
    + rankscope_0003.GRANTS
    + rankscope_0005.GRANTS
    + rankscope_0006.GRANTS
).strip()

MIGRATE = "-- python -m jobs migrate, with RANKSCOPE_OWNER_URL set to the owner's login"

MALFORMED_FEATURES = """-- Lists the organizations; what each should say is for their owner to decide.
select id, features from public.organizations where features is not null and
  (jsonb_typeof(features::jsonb) <> 'object'
   or jsonb_typeof(features::jsonb -> 'feedback_weighting_disabled') <> 'boolean'
   or jsonb_typeof(features::jsonb -> 'corroboration_boost_enabled') <> 'boolean');"""

TIMELESS_ROWS = """update public.retrieval_ab_logs l set created_at = s.created_at
  from public.sessions s where l.created_at is null and s.org_id = l.org_id and s.id = l.session_id;"""

DIMENSIONS = """-- Shows which; vectors of a model that is no longer used can be deleted or made anew.
select route, vector_dims(embedding), count(*) from public.observation_embeddings group by 1, 2 order by 1, 3 desc;"""

TRACK_COUNTS = "alter system set track_counts = on; -- then: select pg_reload_conf();"

# Rows that are already there get the value that readers derived for them so far, or they would leave every figure.
LOG_COLUMNS = {
    "id": "alter table public.retrieval_ab_logs add column id bigint generated always as identity;",
    "retrieval_id": """alter table public.retrieval_ab_logs add column retrieval_id uuid;
update public.retrieval_ab_logs set retrieval_id = md5(session_id || chr(31) || query_text)::uuid;
-- From now on the platform has to write one id per retrieval.""",
    "created_at": f"""alter table public.retrieval_ab_logs add column created_at timestamptz;
{TIMELESS_ROWS}
alter table public.retrieval_ab_logs alter column created_at set default now();""",
}


def quoted(name: str) -> str:
    """A name as Postgres reads it, in quotes where it needs them."""
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*", name) else '"{}"'.format(name.replace('"', '""'))


def create_table(table: str) -> str:
    """The documented definition of a table, without references: another store's keys may be other ones."""
    block = re.search(rf"^create table {table} \(.*?^\);", platform_0001.TABLES, re.DOTALL | re.MULTILINE)
    if block is None:
        raise ValueError(f"expected a platform table; found {table}")
    alone = re.sub(r",\n  foreign key [^\n]*| references [^,\n]*", "", block[0])
    return alone.replace(f"create table {table}", f"create table public.{table}", 1)


def add_columns(table: str, columns: Iterable[str]) -> str:
    """What adds documented columns to a table; never one that rows which are already there would violate."""
    return "\n".join(_add_column(table, column) for column in columns)


def _add_column(table: str, column: str) -> str:
    if table == "retrieval_ab_logs" and column in LOG_COLUMNS:
        return LOG_COLUMNS[column]
    line = re.search(rf"^  {column} (.*?),?$", create_table(table), re.MULTILINE)
    definition = line[1] if line else ""
    if not definition or definition.count("(") != definition.count(")"):
        kind = schema.platform.tables[table].c[column].type
        definition = kind.compile(dialect=DIALECT)
    if "default" not in definition:
        definition = definition.replace(" not null", "")
    return f"alter table public.{quoted(table)} add column {quoted(column)} {definition};"


def create_index(name: str, definition: str) -> str:
    """An index built without blocking writers, which is why it cannot run inside a transaction."""
    note = "-- 256 stands for the dimension of the store's own vectors.\n" if "vector(256)" in definition else ""
    unique, _, plain = name.rpartition(" ")
    kind = f"{unique} index" if unique else "index"
    return f"{note}create {kind} concurrently {quoted(plain)} on public.{definition};"


def index_route(route: str, dimensions: int) -> str:
    """An index for the vectors of one documented route and one length, like the store's own for the full vector."""
    return f"""create index concurrently embeddings_{route}_{dimensions} on public.observation_embeddings
  using hnsw ((embedding::vector({dimensions})) vector_cosine_ops)
  where route = '{route}' and vector_dims(embedding) = {dimensions};"""


def grant_select(tables: Iterable[str]) -> str:
    """The right to read tables, for both of the dashboard's logins."""
    named = ", ".join(f"public.{quoted(table)}" for table in tables)
    return f"grant usage on schema public to dash_read, dash_write;\ngrant select on {named} to dash_read, dash_write;"


def grant_write() -> str:
    """What the write login needs, and no more."""
    return f"grant update (features) on public.organizations to dash_write;\n{OUR_GRANTS}"


def grant_memory(rights: Iterable[tuple[str, str, str | None]]) -> str:
    """What retrieval's own login needs to log and to learn: (table, right, column) each."""
    lines = ["grant usage on schema public to memory_write;"]
    for table, right, column in rights:
        what = f"{right} ({quoted(column)})" if column else right
        lines.append(f"grant {what} on public.{quoted(table)} to memory_write;")
    return "\n".join(lines)


def secure(table: str) -> str:
    """Row security for one table, with the policy that keeps the platform's own roles from being locked out."""
    column = "id" if table == "organizations" else "org_id"
    scope = platform_0001.SCOPE.format(column=column)
    name = f"public.{quoted(table)}"
    return f"""-- Opt-in, for the owner: once row security is on, any other role sees only what a policy gives it.
-- So name in place of platform_role every role that the platform itself connects as, before running this.
begin;
create policy platform on {name} to platform_role using (true) with check (true);
create policy scope on {name} to dash_read, dash_write, memory_write
  using ({scope})
  with check ({scope});
alter table {name} enable row level security;
commit;"""


def set_for_reader(setting: str, value: str) -> str:
    """A setting of the read login alone."""
    return f"alter role dash_read set {setting} = '{value}';"
