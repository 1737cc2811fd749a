"""What a store has and lacks, judged one thing at a time, each with the SQL that would mend it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlalchemy import Boolean, DateTime, Double, Integer, Text

from queries import mending, schema
from queries.errors import listed
from queries.migrate import targets
from queries.migrations.versions import platform_0001, platform_0002, platform_0003
from queries.shape import DOCUMENTED_LOG_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from queries.catalogue import Catalogue, IndexFacts, TableFacts

State = Literal["ok", "degraded", "missing"]

OLDEST_SERVER = 140000
LEAST_WORK_MEM = 16 * 1024  # kB; below, the log's groups are sorted on disk
ROLES = ("dash_read", "dash_write", "memory_write")
INDEXES = platform_0001.INDEXES | platform_0002.INDEXES | platform_0003.INDEXES

# What Overview and the scope list cannot do without; every other documented column is recommended.
REQUIRED = {
    "organizations": ("id", "name", "features"),
    "projects": ("org_id", "id", "name"),
    "sessions": ("org_id", "id", "project_id", "outcome", "created_at"),
    "observations": ("org_id", "project_id", "status", "created_at"),
    "retrieval_ab_logs": DOCUMENTED_LOG_COLUMNS,
}
# Postgres' own grouping of types: text and varchar serve alike, so do integer and numeric; a uuid is not text.
CATEGORIES = {Text: "S", Integer: "N", Double: "N", Boolean: "B", DateTime: "D"}
CATEGORY_WORDS = {"S": "text", "N": "a number", "B": "a boolean", "D": "a time"}


@dataclass(frozen=True)
class Finding:
    """One thing about a store: whether it is as it should be, in a sentence, and what would mend it."""

    name: str
    state: State
    sentence: str
    mend: str = ""
    required: bool = False

    @property
    def prevents_serving(self) -> bool:
        """Whether Rankscope cannot show its pages until this is mended."""
        return self.required and self.state == "missing"


def judge(found: Catalogue) -> Iterator[Finding]:
    """Everything that the catalogue alone tells, roughly in the order in which it should be mended."""
    yield _server(found)
    yield _extension(found)
    for table in schema.platform.tables:
        yield _table(table, found.tables.get(table))
    yield _our_schema(found)
    yield _roles(found)
    yield from _memory_role(found)
    yield _login(found)
    for table, facts in found.tables.items():
        yield _row_security(table, facts, trusted=found.superuser)
    yield _writable(found)
    for name, (definition, serves) in INDEXES.items():
        yield from _index(name, " ".join(definition.split()), serves, found)
    yield from _slow_settings(found)


def _server(found: Catalogue) -> Finding:
    if found.version_number < OLDEST_SERVER:
        sentence = f"Rankscope needs PostgreSQL 14 or later; this server is {found.version}."
        return Finding("server", "missing", sentence, required=True)
    return Finding("server", "ok", f"PostgreSQL {found.version} answers.", required=True)


def _extension(found: Catalogue) -> Finding:
    if found.vector:
        return Finding("pgvector", "ok", f"The pgvector extension {found.vector} is installed.")
    where = "available on this server" if found.vector_available else "not even on this server's disk: install it there"
    sentence = f"The pgvector extension is missing, so nothing that needs vectors works; it is {where}."
    return Finding("pgvector", "missing", sentence, "create extension vector;")


def _table(table: str, facts: TableFacts | None) -> Finding:
    name = f"table {table}"
    required = REQUIRED.get(table, ())
    if facts is None:
        effect = "Rankscope cannot serve without it" if required else "pages that need it say so"
        sentence = f"Table {table} is missing; {effect}."
        return Finding(name, "missing", sentence, mending.create_table(table), required=bool(required))
    documented = [column.name for column in schema.platform.tables[table].columns]
    lacks = [column for column in documented if column not in facts.columns]
    needed = [column for column in lacks if column in required]
    if needed:
        sentence = f"Table {table} lacks {listed(needed)}; Rankscope cannot serve without."
        return Finding(name, "missing", sentence, mending.add_columns(table, lacks), required=True)
    unfit = list(_unfit(table, facts))
    if unfit:
        return Finding(name, "missing", f"Table {table} has {listed(unfit)}.", required=True)
    closed = [column for column in documented if column in facts.columns and not facts.columns[column].readable]
    if closed:
        state: State = "missing" if set(closed) & set(required) else "degraded"
        sentence = f"This login may not read {listed(closed)} of table {table}."
        return Finding(name, state, sentence, mending.grant_select([table]), required=bool(required))
    if lacks:
        sentence = (
            f"Table {table} lacks {listed(lacks)}; what builds on {'it' if len(lacks) == 1 else 'them'} is left out."
        )
        return Finding(name, "degraded", sentence, mending.add_columns(table, lacks), required=bool(required))
    return Finding(name, "ok", f"Table {table} has every documented column.", required=bool(required))


def _unfit(table: str, facts: TableFacts) -> Iterator[str]:
    for column in REQUIRED.get(table, ()):
        kind = schema.platform.tables[table].c[column].type
        wanted = next((c for documented, c in CATEGORIES.items() if isinstance(kind, documented)), None)
        if wanted and facts.columns[column].category != wanted:
            yield f"{column} as {facts.columns[column].type} where {CATEGORY_WORDS[wanted]} is documented"


def _our_schema(found: Catalogue) -> Finding:
    name, wanted = "schema rankscope", targets(create_store=False)
    if not found.has_our_schema:
        sentence = "Schema rankscope is missing, so there are no granted roles, audit or triage: run the migration."
        return Finding(name, "missing", sentence, mending.MIGRATE)
    if found.revisions is None:
        return Finding(name, "degraded", "This login may not read schema rankscope.", mending.OUR_GRANTS)
    at = ", ".join(found.revisions) or "no revision"
    if not set(wanted) <= set(found.revisions):
        sentence = f"Schema rankscope is at {at}; this Rankscope expects {', '.join(wanted)}."
        return Finding(name, "degraded", sentence, mending.MIGRATE)
    return Finding(name, "ok", f"Schema rankscope is up to date ({at}).")


def _roles(found: Catalogue) -> Finding:
    lacks = [role for role in ROLES if role not in found.roles]
    if lacks:
        tables = [table for table in schema.platform.tables if table in found.tables]
        parts = [mending.ROLES, *([mending.grant_select(tables)] if tables else [])]
        parts += [mending.grant_write()] if found.has_our_schema and "organizations" in tables else []
        plural = "role is" if len(lacks) == 1 else "roles are"
        return Finding("roles", "degraded", f"The {plural} missing: {', '.join(lacks)}.", "\n".join(parts))
    return Finding("roles", "ok", f"The roles {', '.join(ROLES)} exist.")


def _memory_role(found: Catalogue) -> Iterator[Finding]:
    """Nothing where the role is missing: that has a finding of its own."""
    if "memory_write" not in found.roles:
        return
    if found.memory_lacks:
        tables = listed(sorted({table for table, _, _ in found.memory_lacks}))
        sentence = (
            f"The role memory_write lacks rights on {tables}, so retrievals there are not logged or learned from."
        )
        yield Finding("memory role", "degraded", sentence, mending.grant_memory(found.memory_lacks))
        return
    yield Finding("memory role", "ok", "The role memory_write may log retrievals and learn from outcomes.")


def _login(found: Catalogue) -> Finding:
    owned = any(facts.owned for facts in found.tables.values())
    reason = (
        "connected as superuser"
        if found.superuser
        else "this login bypasses row security"
        if found.bypasses_row_security
        else "this login owns platform tables, and row security does not bind an owner"
        if owned
        else ""
    )
    if reason:
        mend = "-- Create the roles above if they are missing, then let DATABASE_URL log in as dash_read."
        return Finding("login", "degraded", f"not isolated: {reason}.", mend)
    return Finding("login", "ok", "This login is bound by row security and owns no platform table.")


def _row_security(table: str, facts: TableFacts, *, trusted: bool) -> Finding:
    name = f"row security {table}"
    if facts.is_view:
        return Finding(name, "ok", f"{table} is a view: row security belongs to the tables behind it.")
    scoped = any(reads_scope and (mine or trusted or facts.owned) for mine, reads_scope in facts.policies)
    if facts.secured and scoped:
        return Finding(
            name, "ok", f"Table {table} has row security, with a policy that reads the organizations in reach."
        )
    lack = "no policy that limits this login to the organizations in reach" if facts.secured else "no row security"
    sentence = f"Table {table} has {lack}; only Rankscope's own predicate separates organizations there."
    return Finding(name, "degraded", sentence, mending.secure(table))


def _writable(found: Catalogue) -> Finding:
    if found.standby:
        return Finding("writes", "degraded", "This server is a standby: pages work, changes need the primary.")
    if found.read_only:
        sentence = "This server or database is set to read-only: pages work, changes are refused."
        mend = "-- If that is not meant to last: alter database … reset default_transaction_read_only;"
        return Finding("writes", "degraded", sentence, mend)
    return Finding("writes", "ok", "This server accepts writes.")


def _index(name: str, definition: str, serves: str, found: Catalogue) -> Iterator[Finding]:
    """Nothing where the table or a column is missing: that has a finding of its own."""
    table, method, keys = _parsed(definition)
    facts = found.tables.get(table)
    named = {key.partition("::")[0] for key in keys}
    if facts is None or facts.is_view or not named <= facts.columns.keys():
        return
    unique, _, plain = name.rpartition(" ")
    fit = [index for index in found.indexes if index.unique or not unique]
    if any(_serves(index, table, method, keys, partial=" where " in definition) for index in fit):
        yield Finding(f"index {plain}", "ok", f"An index on {table} serves: {serves}.")
        return
    sentence = f"No {f'{unique} ' if unique else ''}index on {table} serves: {serves}."
    yield Finding(f"index {plain}", "degraded", sentence, mending.create_index(name, definition))


def _parsed(definition: str) -> tuple[str, str, tuple[str, ...]]:
    """Table, method and keys of an index definition of ours."""
    match = re.match(r"(\w+)(?: using (\w+))? \((.*?)\)(?: include| where|$)", definition)
    if match is None:
        raise ValueError(f"expected TABLE (KEYS) …; found {definition}")
    return match[1], match[2] or "btree", tuple(_plain(key.split(" ")[0]) for key in match[3].split(", "))


def _plain(key: str) -> str:
    return re.sub(r"[()\"\s]", "", key)


def _serves(index: IndexFacts, table: str, method: str, keys: tuple[str, ...], *, partial: bool) -> bool:
    if index.table != table or (index.partial and not partial):
        return False
    if method == "hnsw":
        # Its dimension depends on the store's model, and ivfflat does as well.
        return index.method in ("hnsw", "ivfflat")
    return index.method == method and tuple(map(_plain, index.keys))[: len(keys)] == keys


def _slow_settings(found: Catalogue) -> Iterator[Finding]:
    if found.settings.get("jit") == "on":
        sentence = "Just-in-time compilation is on: it costs short questions more than it saves."
        yield Finding("setting jit", "degraded", sentence, mending.set_for_reader("jit", "off"))
    if int(found.settings.get("work_mem", LEAST_WORK_MEM)) < LEAST_WORK_MEM:
        sentence = "work_mem is below 16 MB, so the log's aggregates are sorted on disk."
        yield Finding("setting work_mem", "degraded", sentence, mending.set_for_reader("work_mem", "64MB"))
    if found.settings.get("track_counts") == "off":
        sentence = "track_counts is off, so cached figures cannot know when they are old."
        yield Finding("setting track_counts", "degraded", sentence, mending.TRACK_COUNTS)
    unknown = [table for table, facts in found.tables.items() if facts.unknown_size]
    if unknown:
        mend = "\n".join(f"analyze public.{mending.quoted(table)};" for table in unknown)
        yield Finding("statistics", "degraded", f"Never analyzed, so plans are guesses: {', '.join(unknown)}.", mend)
