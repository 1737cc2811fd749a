"""Stores that are not ours, and everything a catalogue says about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Sequence

FOREIGN = Path(__file__).parent / "foreign_store.sql"

# Row images as text, so that a new column of a later Postgres is compared as well.
SNAPSHOT = {
    "relations": """select (c.oid, c.*)::text from pg_class c join pg_namespace n on n.oid = relnamespace
                     where nspname not in ('rankscope', 'pg_toast', 'pg_catalog', 'information_schema')""",
    "attributes": """select a::text from pg_attribute a join pg_class c on c.oid = attrelid
                       join pg_namespace n on n.oid = relnamespace
                      where nspname not in ('rankscope', 'pg_toast', 'pg_catalog', 'information_schema')""",
    "constraints": """select (c.*)::text from pg_constraint c join pg_namespace n on n.oid = connamespace
                       where nspname <> 'rankscope'""",
    "indexes": """select (i.*)::text from pg_index i join pg_class c on c.oid = indrelid
                    join pg_namespace n on n.oid = relnamespace where nspname not in ('rankscope', 'pg_toast')""",
    "policies": """select (p.*)::text from pg_policy p join pg_class c on c.oid = polrelid
                     join pg_namespace n on n.oid = relnamespace where nspname <> 'rankscope'""",
    "triggers": """select (t.*)::text from pg_trigger t join pg_class c on c.oid = tgrelid
                     join pg_namespace n on n.oid = relnamespace where nspname <> 'rankscope'""",
    "functions": """select (p.*)::text from pg_proc p join pg_namespace n on n.oid = pronamespace
                     where nspname not in ('rankscope', 'pg_catalog', 'information_schema')""",
    "leakproof": "select proname from pg_proc where proleakproof",
    "types": """select (t.*)::text from pg_type t join pg_namespace n on n.oid = typnamespace
                 where nspname not in ('rankscope', 'pg_toast')""",
    "views": "select schemaname, viewname, definition from pg_views where schemaname = 'public'",
    "schemas": "select (n.*)::text from pg_namespace n where nspname <> 'rankscope'",
    "roles": "select (r.*)::text from pg_roles r",
    "memberships": "select (m.*)::text from pg_auth_members m",
    "role settings": """select (s.*)::text from pg_db_role_setting s
                         where setdatabase in (0, (select oid from pg_database where datname = current_database()))""",
    "database": """select datname, datdba, datacl::text, datconnlimit from pg_database
                    where datname = current_database()""",
    "default rights": "select (d.*)::text from pg_default_acl d",
    "extensions": "select (e.*)::text from pg_extension e",
    "comments": """select (d.*)::text from pg_description d
                     where not exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
                                        where c.oid = d.objoid and nspname = 'rankscope')""",
}


def run(url: str, script: str) -> None:
    """Run a script as it stands, each statement on its own."""
    with psycopg.connect(libpq(url), autocommit=True) as connection:
        connection.execute(script.encode())


def rows(url: str, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """The rows of one statement."""
    with psycopg.connect(libpq(url)) as connection:
        return connection.execute(statement.encode(), values or None).fetchall()


def snapshot(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Everything the catalogue says of what does not lie in schema rankscope."""
    return {name: sorted(rows(url, statement), key=repr) for name, statement in SNAPSHOT.items()}


def libpq(url: str) -> str:
    """The address without SQLAlchemy's name for the driver."""
    return url.replace("postgresql+psycopg://", "postgresql://", 1)
