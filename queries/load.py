"""Many rows into a table at once: for demo data and tests, never on a page's path."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pgvector.psycopg import register_vector
from pgvector.sqlalchemy import VECTOR
from psycopg import sql
from psycopg.types.json import Jsonb
from sqlalchemy import Uuid, select, text
from sqlalchemy.dialects.postgresql import JSONB

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


def copy_records(
    connection: Connection, table: Table, columns: Sequence[str], records: Iterable[Sequence[object]]
) -> int:
    """Append a stream of records by COPY in this connection's transaction and return how many."""
    unknown = [name for name in columns if name not in table.c]
    if unknown:
        raise ValueError(f"expected columns of {table.name}; found {', '.join(unknown)}")
    as_json = [place for place, name in enumerate(columns) if isinstance(table.c[name].type, JSONB)]
    # vectors as text would be three times the bytes, and most of the time
    binary = any(isinstance(table.c[name].type, VECTOR) for name in columns)
    statement = sql.SQL("copy {table} ({columns}) from stdin {how}").format(
        table=_identifier(table),
        columns=sql.SQL(", ").join(map(sql.Identifier, columns)),
        how=sql.SQL("(format binary)" if binary else ""),
    )
    driver, count = _driver(connection), 0
    if binary:
        # asks the server for the type's number, which inside a COPY would wait for ever
        register_vector(driver)
    with driver.cursor() as cursor, cursor.copy(statement) as copy:
        if binary:
            copy.set_types([_type_name(table, name) for name in columns])
        for record in records:
            row = record
            if as_json:
                row = [Jsonb(value) if place in as_json else value for place, value in enumerate(record)]
            copy.write_row(row)
            count += 1
    return count


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


def _type_name(table: Table, name: str) -> str:
    kind = table.c[name].type
    return "vector" if isinstance(kind, VECTOR) else "uuid" if isinstance(kind, Uuid) else "text"


def _identifier(table: Table) -> sql.Identifier:
    return sql.Identifier(*filter(None, (table.schema, table.name)))


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    raw: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    return raw
