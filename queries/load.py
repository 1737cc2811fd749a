"""Many rows into a table at once: for demo data and tests, never on a page's path."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from psycopg import sql
from sqlalchemy import select, text

from queries import schema
from queries.migrate import LOCK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import psycopg
    from sqlalchemy import Connection, Table

# What an index is worth building with: a graph over vectors that does not fit in memory takes ten times as long.
BUILD_MEMORY = "2GB"

SECONDARY = """
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition,
           obj_description(i.indexrelid, 'pg_class') as serves
      from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = any (array(select unnest(cast(:tables as text[]))::regclass)) and not i.indisunique
     order by c.relname"""


def claim_empty(connection: Connection) -> bool:
    """Whether this store holds no organization; a second transaction that asks waits for the first to end."""
    connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    return connection.execute(select(schema.organizations.c.id).limit(1)).first() is None


def copy_encoded(connection: Connection, table: Table, columns: Sequence[str], pieces: Iterable[bytes]) -> int:
    """Append what ``copy_format.encoded`` made by COPY in this connection's transaction and return how many rows."""
    statement = sql.SQL("copy {table} ({columns}) from stdin (format binary)").format(
        table=_identifier(table), columns=sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with _driver(connection).cursor() as cursor:
        with cursor.copy(statement) as copy:
            for piece in pieces:
                copy.write(piece)
        return cursor.rowcount


@contextmanager
def rebuilt_indexes(connection: Connection, tables: Iterable[Table]) -> Iterator[None]:
    """Load without the tables' secondary indexes, which are built again from their own definitions afterwards."""
    driver = _driver(connection)
    names = [table.fullname for table in tables]
    found = connection.execute(text(SECONDARY), {"tables": names}).all()
    for index in found:
        driver.execute(sql.SQL("drop index {name}").format(name=sql.SQL(index.name)))
    yield
    connection.execute(text("select set_config('maintenance_work_mem', :memory, true)"), {"memory": BUILD_MEMORY})
    for index in found:
        driver.execute(sql.SQL(index.definition))
        name, serves = sql.SQL(index.name), sql.Literal(index.serves)
        driver.execute(sql.SQL("comment on index {name} is {serves}").format(name=name, serves=serves))


def analyze(connection: Connection, tables: Iterable[Table]) -> None:
    """Tell the planner what was just loaded, in the same transaction."""
    names = sql.SQL(", ").join(map(_identifier, tables))
    _driver(connection).execute(sql.SQL("analyze {names}").format(names=names))


def _identifier(table: Table) -> sql.Identifier:
    return sql.Identifier(*filter(None, (table.schema, table.name)))


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    raw: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    return raw
