"""What a store is made of, read from its catalogue: only ever read, and only as far as the login may see."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy import text

from queries import schema
from queries.migrate import revisions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

SERVER = text(
    """select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
              r.rolsuper as superuser, r.rolbypassrls as bypasses, pg_is_in_recovery() as standby,
              (select extversion from pg_extension where extname = 'vector') as vector,
              (select default_version from pg_available_extensions where name = 'vector') as vector_available,
              array(select rolname::text from pg_roles where rolname in ('dash_read', 'dash_write', 'memory_write'))
                as roles
         from pg_roles r where r.rolname = current_user"""
)

# A login's own default hides what was set for the whole database, so both places are looked at.
READ_ONLY = text(
    """select exists (select from pg_settings
                       where name = 'default_transaction_read_only' and setting = 'on'
                         and source in ('configuration file', 'command line', 'database', 'global'))
           or exists (select from pg_db_role_setting s, unnest(s.setconfig) as entry
                       where s.setrole = 0
                         and s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
                         and entry ~* '^default_transaction_read_only=(on|true|yes|1)$')"""
)

TABLES = text(
    """select c.relname, c.relkind::text as kind, c.relrowsecurity as secured, c.reltuples as rows,
              pg_has_role(c.relowner, 'usage') as owned,
              c.reltuples < 0 and pg_relation_size(c.oid) > 8388608 as unknown
         from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'public' and c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relname = any(:names)"""
)

POLICIES = text(
    """select c.relname, coalesce(pg_get_expr(p.polqual, p.polrelid), '') like '%dash.orgs%' as scoped,
              exists (select from unnest(p.polroles) as granted
                       where granted = 0 or pg_has_role(granted, 'usage')) as mine
         from pg_policy p join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'public'"""
)

COLUMNS = text(
    """select c.relname, a.attname, t.typname, t.typcategory::text as category, not a.attnotnull as nullable,
              has_schema_privilege(n.oid, 'usage') and has_column_privilege(c.oid, a.attnum, 'select') as readable
         from pg_class c join pg_namespace n on n.oid = c.relnamespace
         join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
         join pg_type t on t.oid = a.atttypid
        where n.nspname = 'public' and c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relname = any(:names)"""
)

INDEXES = text(
    """select c.relname, m.amname, i.indpred is not null as partial, i.indisunique as is_unique,
              pg_get_indexdef(i.indexrelid) as definition,
              array(select pg_get_indexdef(i.indexrelid, key, true)
                      from generate_series(1, i.indnkeyatts) as key) as keys
         from pg_index i join pg_class c on c.oid = i.indrelid join pg_class x on x.oid = i.indexrelid
         join pg_am m on m.oid = x.relam join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'public' and i.indisvalid and c.relname = any(:names)"""
)

# By oid: asking for a table by name is an error where the login may not enter its schema.
OURS = text(
    """select has_schema_privilege(n.oid, 'usage') as enterable,
              (select has_table_privilege(c.oid, 'select') from pg_class c
                where c.relnamespace = n.oid and c.relname = 'alembic_version') as readable
         from pg_namespace n where n.nspname = 'rankscope'"""
)

# What retrieval and learning write; a column that a store lacks is asked for nowhere.
MEMORY_WRITES = (
    ("retrieval_ab_logs", "insert", None),
    ("context_injection_logs", "insert", None),
    ("observation_weight_history", "insert", None),
    ("observations", "update", "weight"),
    ("observations", "update", "last_accessed_at"),
    ("sessions", "update", "outcome"),
    ("sessions", "update", "ended_at"),
)
MEMORY_LACKS = text(
    """select wanted.relname, wanted.what, wanted.attname
         from unnest(cast(:tables as text[]), cast(:rights as text[]), cast(:columns as text[]))
           as wanted (relname, what, attname)
         join pg_class c on c.relname = wanted.relname and c.relkind in ('r', 'p', 'v', 'm', 'f')
         join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
         left join pg_attribute a on a.attrelid = c.oid and a.attname = wanted.attname and not a.attisdropped
        where (wanted.attname is null or a.attnum is not null)
          and not (has_schema_privilege('memory_write', n.oid, 'usage')
                   and case when a.attnum is null then has_table_privilege('memory_write', c.oid, wanted.what)
                            else has_column_privilege('memory_write', c.oid, a.attnum, wanted.what) end)
        order by 1, 2, 3"""
)

SETTINGS = text("select name, setting from pg_settings where name = any(:names)")
WATCHED = ("jit", "work_mem", "track_counts")


@dataclass(frozen=True)
class ColumnFacts:
    """One column: its type, the kind of type, and whether this login may read it."""

    type: str
    category: str
    nullable: bool
    readable: bool


@dataclass(frozen=True)
class TableFacts:
    """One table or view of the platform."""

    kind: str
    rows: float
    owned: bool
    secured: bool
    unknown_size: bool
    columns: Mapping[str, ColumnFacts] = field(default_factory=dict)
    # (whether it applies to this login, whether it reads dash.orgs) for each policy
    policies: tuple[tuple[bool, bool], ...] = ()

    @property
    def is_view(self) -> bool:
        """Whether this is a view, which has neither indexes nor policies of its own."""
        return self.kind == "v"


@dataclass(frozen=True)
class IndexFacts:
    """One valid index: its table, method, key columns or expressions in order, and whether it covers every row."""

    table: str
    method: str
    keys: tuple[str, ...]
    partial: bool
    unique: bool
    definition: str


@dataclass(frozen=True)
class Catalogue:
    """Everything doctor judges a store by, from one read-only transaction."""

    version_number: int
    version: str
    superuser: bool
    bypasses_row_security: bool
    standby: bool
    read_only: bool
    vector: str | None
    vector_available: str | None
    roles: frozenset[str]
    tables: Mapping[str, TableFacts]
    indexes: tuple[IndexFacts, ...]
    memory_lacks: tuple[tuple[str, str, str | None], ...]  # (table, right, column) of the role memory_write
    settings: Mapping[str, str]
    has_our_schema: bool
    revisions: tuple[str, ...] | None  # None where this login may not read them


def read_catalogue(connection: Connection) -> Catalogue:
    """The catalogue as this connection's login sees it."""
    server = connection.execute(SERVER).one()
    names = {"names": list(schema.platform.tables)}
    ours = connection.execute(OURS).one_or_none()
    may_read = ours is None or (ours.enterable and ours.readable is not False)
    return Catalogue(
        version_number=server.number,
        version=server.version,
        superuser=server.superuser,
        bypasses_row_security=server.bypasses,
        standby=server.standby,
        read_only=bool(connection.execute(READ_ONLY).scalar_one()),
        vector=server.vector,
        vector_available=server.vector_available,
        roles=frozenset(server.roles),
        tables=_tables(connection, names),
        indexes=tuple(
            IndexFacts(row.relname, row.amname, tuple(row.keys), row.partial, row.is_unique, row.definition)
            for row in connection.execute(INDEXES, names)
        ),
        memory_lacks=_memory_lacks(connection) if "memory_write" in server.roles else (),
        settings={row.name: row.setting for row in connection.execute(SETTINGS, {"names": list(WATCHED)})},
        has_our_schema=ours is not None,
        revisions=revisions(connection) if may_read else None,
    )


def _memory_lacks(connection: Connection) -> tuple[tuple[str, str, str | None], ...]:
    wanted = [*MEMORY_WRITES, *((table, "select", None) for table in schema.platform.tables)]
    tables, rights, columns = (list(part) for part in zip(*wanted, strict=True))
    asked = connection.execute(MEMORY_LACKS, {"tables": tables, "rights": rights, "columns": columns})
    return tuple((row.relname, row.what, row.attname) for row in asked)


def _tables(connection: Connection, names: dict[str, list[str]]) -> dict[str, TableFacts]:
    columns: dict[str, dict[str, ColumnFacts]] = {}
    for row in connection.execute(COLUMNS, names):
        facts = ColumnFacts(row.typname, row.category, row.nullable, row.readable)
        columns.setdefault(row.relname, {})[row.attname] = facts
    policies: dict[str, list[tuple[bool, bool]]] = {}
    for row in connection.execute(POLICIES):
        policies.setdefault(row.relname, []).append((row.mine, row.scoped))
    return {
        row.relname: TableFacts(
            kind=row.kind,
            rows=row.rows,
            owned=row.owned,
            secured=row.secured,
            unknown_size=row.unknown,
            columns=columns.get(row.relname, {}),
            policies=tuple(policies.get(row.relname, ())),
        )
        for row in connection.execute(TABLES, names)
    }
