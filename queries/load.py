"""Many rows into a table at once: for demo data and tests, never on a page's path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg import sql
from psycopg.types.json import Jsonb
from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import JSONB

from queries import schema
from queries.migrate import LOCK

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import psycopg
    from sqlalchemy import Connection, Table


def claim_empty(connection: Connection) -> bool:
    """Whether this store holds no organization; a second transaction that asks waits for the first to end."""
    connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    return connection.execute(select(schema.organizations.c.id).limit(1)).first() is None


def copy_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, object]]) -> int:
    """Append rows by COPY in this connection's transaction and return how many; the first row names the columns."""
    if not rows:
        return 0
    columns = list(rows[0])
    unknown = [name for name in columns if name not in table.c]
    if unknown:
        raise ValueError(f"expected columns of {table.name}; found {', '.join(unknown)}")
    as_json = frozenset(name for name in columns if isinstance(table.c[name].type, JSONB))
    statement = sql.SQL("copy {table} ({columns}) from stdin").format(
        table=_identifier(table), columns=sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with _driver(connection).cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            if row.keys() != rows[0].keys():
                raise ValueError(f"expected the columns {', '.join(columns)} in every row; found {', '.join(row)}")
            copy.write_row([Jsonb(row[name]) if name in as_json else row[name] for name in columns])
    return len(rows)


def analyze(connection: Connection, tables: Iterable[Table]) -> None:
    """Tell the planner what was just loaded, in the same transaction."""
    names = sql.SQL(", ").join(map(_identifier, tables))
    _driver(connection).execute(sql.SQL("analyze {names}").format(names=names))


def _identifier(table: Table) -> sql.Identifier:
    return sql.Identifier(*filter(None, (table.schema, table.name)))


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    raw: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    return raw
