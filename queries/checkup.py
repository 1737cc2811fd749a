"""A store examined: its catalogue judged, then what only its data can tell. Reads, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select, text
from sqlalchemy.types import Text

from queries import mending, schema
from queries.catalogue import read_catalogue
from queries.engine import AGGREGATE, Store
from queries.errors import StoreError
from queries.findings import Finding, judge
from queries.flags.states import LONGEST_FEATURES, flag_states
from queries.recall.estimates import indexed_routes
from queries.scope import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine

    from queries.catalogue import Catalogue

    Check = Callable[[Connection, Catalogue], Finding | None]

SAMPLED = 200_000  # vectors; beyond that a share of the table's pages stands for the rest

DIMENSIONS = text(
    """select route, count(distinct vector_dims(embedding)) as dimensions
         from observation_embeddings tablesample system (:percent) group by route"""
)
# The largest organization of each route: it is searched alone, so others' vectors do not count.
ROUTE_SIZES = text(
    """select route, dimensions, max(vectors) as vectors
         from (select route, vector_dims(embedding) as dimensions, count(*) as vectors
                 from observation_embeddings tablesample system (:percent) group by org_id, 1, 2) as of_org
        group by 1, 2 order by 1, 2"""
)
MANY_VECTORS = 5_000  # of one organization, from which comparing all of a route takes longer than an index
MOST_INDEXED = 2_000  # dimensions that an index of pgvector takes
TIMELESS = text("select count(*) from retrieval_ab_logs where created_at is null")
WRITE_RIGHTS = text(
    """select (select has_column_privilege(c.oid, 'features', 'update') from pg_class c join pg_namespace n
                 on n.oid = c.relnamespace where n.nspname = 'public' and c.relname = 'organizations') as flags,
              (select has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'insert')
                 from pg_class c join pg_namespace n on n.oid = c.relnamespace
                where n.nspname = 'rankscope' and c.relname = 'flag_changes') as audit"""
)


def examine(store: Store) -> tuple[Finding, ...]:
    """Every finding about a store, in the order in which it should be mended; one if it cannot be reached."""
    try:
        with store.reading(EVERYTHING, AGGREGATE) as connection:
            catalogue = read_catalogue(connection)
    except StoreError as error:
        return (Finding("connection", "missing", error.sentence, required=True),)
    checks = (
        ("features", _features),
        ("log times", _log_times),
        ("vector dimensions", _dimensions),
        ("route indexes", _route_indexes),
    )
    data = (_checked(store, catalogue, name, check) for name, check in checks)
    return (*judge(catalogue), *filter(None, data), _write_login(store.writer))


def serves(findings: tuple[Finding, ...]) -> bool:
    """Whether Rankscope can show its pages over this store."""
    return not any(finding.prevents_serving for finding in findings)


def _checked(store: Store, catalogue: Catalogue, name: str, check: Check) -> Finding | None:
    """The answer of one check, in a transaction of its own: a slow or refused one must not take the others along."""
    try:
        with store.reading(EVERYTHING, AGGREGATE) as connection:
            return check(connection, catalogue)
    except StoreError as error:
        return Finding(name, "degraded", f"Not checked. {error.sentence}")


def _features(connection: Connection, found: Catalogue) -> Finding | None:
    if not _readable(found, "organizations", "id", "features"):
        return None
    stored = schema.organizations.c.features
    rows = connection.execute(select(func.left(stored.cast(Text), LONGEST_FEATURES)).execution_options(yield_per=1000))
    states = [flag_states(features).malformed for (features,) in rows]
    bad = len(states) - states.count(None)
    if bad:
        sentence = (
            f"{bad:,} of {len(states):,} organizations have features that are no valid flag object; "
            "pages say so and refuse to change them."
        )
        return Finding("features", "degraded", sentence, mending.MALFORMED_FEATURES)
    return Finding("features", "ok", f"The features of all {len(states):,} organizations are readable.")


def _log_times(connection: Connection, found: Catalogue) -> Finding | None:
    if not _readable(found, "retrieval_ab_logs", "created_at"):
        return None
    if not found.tables["retrieval_ab_logs"].columns["created_at"].nullable:
        return Finding("log times", "ok", "Every log row has a time.")
    timeless = connection.execute(TIMELESS).scalar_one()
    if timeless:
        sentence = f"{timeless:,} log rows have no time and appear in no window."
        return Finding("log times", "degraded", sentence, mending.TIMELESS_ROWS)
    return Finding("log times", "ok", "Every log row has a time, although the column allows none.")


def _sampled(found: Catalogue) -> float | None:
    """The share of the vectors to read, in percent; none where there are none that can be read."""
    if not found.vector or not _readable(found, "observation_embeddings", "org_id", "route", "embedding"):
        return None
    table = found.tables["observation_embeddings"]
    if table.kind not in ("r", "p", "m") or table.columns["embedding"].type not in ("vector", "halfvec"):
        return None
    return 100.0 if table.rows <= SAMPLED else 100.0 * SAMPLED / table.rows


def _route_indexes(connection: Connection, found: Catalogue) -> Finding | None:
    percent = _sampled(found)
    if percent is None:
        return None
    name, definitions = "route indexes", [index.definition for index in found.indexes]
    many = [
        (row.route, row.dimensions)
        for row in connection.execute(ROUTE_SIZES, {"percent": percent})
        if row.route in schema.ROUTES and row.vectors * 100.0 / percent > MANY_VECTORS
    ]
    bare = [(r, size) for r, size in many if size <= MOST_INDEXED and r not in indexed_routes(definitions, size)]
    if bare:
        routes = ", ".join(f"{route} ({size} dimensions)" for route, size in bare)
        sentence = (
            f"No index on vectors that one organization has more than {MANY_VECTORS:,} of: {routes}; "
            "a retrieval by that route compares all of them."
        )
        return Finding(name, "degraded", sentence, "\n".join(mending.index_route(*each) for each in bare))
    return Finding(name, "ok", "Every route with many vectors has an index.")


def _dimensions(connection: Connection, found: Catalogue) -> Finding | None:
    percent = _sampled(found)
    if percent is None:
        return None
    mixed = [row.route for row in connection.execute(DIMENSIONS, {"percent": percent}) if row.dimensions > 1]
    if mixed:
        known = [route for route in mixed if route in schema.ROUTES]
        sentence = (
            f"Vectors of more than one dimension in {len(mixed)} routes ({', '.join(known) or 'undocumented ones'}); "
            "those that differ from the query's are skipped."
        )
        return Finding("vector dimensions", "degraded", sentence, mending.DIMENSIONS)
    return Finding("vector dimensions", "ok", "Each route holds vectors of one dimension.")


def _write_login(writer: Engine | None) -> Finding:
    name = "write login"
    if writer is None:
        return Finding(name, "ok", "No write login is configured: Rankscope only reads. RANKSCOPE_WRITE_URL names one.")
    try:
        with Store(writer).reading(EVERYTHING, AGGREGATE) as connection:
            rights = connection.execute(WRITE_RIGHTS).one()
    except StoreError as error:
        return Finding(name, "degraded", f"The write login does not work. {error.sentence}")
    if not (rights.flags and rights.audit):
        sentence = "The write login may not change flags or write their audit, so Rankscope only reads."
        return Finding(name, "degraded", sentence, mending.grant_write())
    return Finding(name, "ok", "The write login may change flags and write their audit.")


def _readable(found: Catalogue, table: str, *columns: str) -> bool:
    facts = found.tables.get(table)
    return facts is not None and all(name in facts.columns and facts.columns[name].readable for name in columns)
