"""What a recall may cost before it runs: the planner's own row estimates, which cost no reading at any size."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from psycopg import sql
from sqlalchemy import text

from queries.schema import ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import psycopg
    from sqlalchemy import Connection

    from queries.engine import Store

LONGEST_QUESTION = 16_000  # characters of a question that are read for terms; a page of text has 3 000
MOST_TERMS = 64  # distinct terms of a question that are looked at, in the order they were written

# Stop words and metacharacters are gone in a tsvector: what comes out are words, whatever went in.
SURVEY = text(
    """select greatest(reltuples, 0)::float8,
              array(select lexeme from unnest(to_tsvector('english', :question))
                     order by positions[1], lexeme limit :most),
              array(select pg_get_indexdef(i.indexrelid) from pg_index i join pg_class x on x.oid = i.indexrelid
                     where i.indrelid = 'observation_embeddings'::regclass and i.indisvalid
                       and x.relam in (select oid from pg_am where amname in ('hnsw', 'ivfflat')))
         from pg_class where oid = 'observations'::regclass"""
)

ALL = sql.SQL("select from observations")
MINE = sql.SQL("select from observations where org_id = {org} and status = 'active'")
OF_PROJECT = sql.SQL("select from observations where org_id = {org} and project_id = {project} and status = 'active'")
WITH_TERM = sql.SQL("select from observations where search @@ {term}::tsquery")


@dataclass(frozen=True)
class Estimates:
    """Observations of the store, the organization's, project's and each term's share of them, and vector indexes."""

    stored: float
    organization: float
    project: float
    terms: tuple[tuple[str, float], ...] = ()
    indexes: tuple[str, ...] = ()

    def indexed(self, dimensions: int) -> frozenset[str]:
        """The routes whose vectors of so many dimensions have an index for cosine distance."""
        return indexed_routes(self.indexes, dimensions)


def indexed_routes(definitions: Iterable[str], dimensions: int) -> frozenset[str]:
    """The routes whose vectors of so many dimensions one of these indexes holds, for cosine distance."""
    fitting = [d for d in definitions if f"vector({dimensions})" in d and "vector_cosine_ops" in d]
    return frozenset(r for r in ROUTES if any(f"'{r}'" in d or "route" not in d for d in fitting))


def estimates(connection: Connection, org: str, project: str | None, question: str) -> Estimates:
    """The estimates for one recall; an empty question has no terms."""
    stored, found, indexes = connection.execute(SURVEY, {"question": _readable(question), "most": MOST_TERMS}).one()
    parts = [
        ALL,
        MINE.format(org=sql.Literal(org)),
        *(WITH_TERM.format(term=sql.Literal(as_query(term))) for term in found),
    ]
    if project is not None:
        parts.append(OF_PROJECT.format(org=sql.Literal(org), project=sql.Literal(project)))
    every, mine, *others = _planned_rows(connection, parts)
    # Row security thins out every part alike, so only ratios mean anything.
    return Estimates(
        stored=max(stored, every),
        organization=mine / every,
        project=mine / every if project is None else others.pop() / every,
        terms=tuple((term, rows / every) for term, rows in zip(found, others, strict=True)),
        indexes=tuple(indexes),
    )


def _readable(question: str) -> str:
    """The beginning of a question without what Postgres cannot store."""
    return question[:LONGEST_QUESTION].replace("\0", " ").encode(errors="replace").decode()


def as_query(term: str) -> str:
    """A term as the text of a tsquery that matches it and nothing else."""
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"


def _planned_rows(connection: Connection, parts: Sequence[sql.Composable]) -> list[float]:
    """How many rows the planner expects of each part; at least one each, so that ratios exist."""
    raw: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    statement = sql.SQL("explain (format json, costs true) {parts}").format(parts=sql.SQL(" union all ").join(parts))
    plan = raw.execute(statement).fetchone()
    members = [part for part in plan[0][0]["Plan"]["Plans"] if part["Parent Relationship"] == "Member"]  # type: ignore[index]
    return [max(float(part["Plan Rows"]), 1.0) for part in members]


class Remembered:
    """Estimates of sizes, kept a minute for each store: they only choose how to search, never what is found."""

    def __init__(self, seconds: float = 60.0, most: int = 10_000) -> None:
        self._seconds, self._most = seconds, most
        self._kept: WeakKeyDictionary[Store, dict[tuple[str, str | None], tuple[float, Estimates]]]
        self._kept = WeakKeyDictionary()

    def get(self, store: Store, org: str, project: str | None) -> Estimates | None:
        """What was estimated within the last minute, without terms."""
        until, known = self._kept.get(store, {}).get((org, project), (0.0, None))
        return known if time.monotonic() < until else None

    def put(self, store: Store, org: str, project: str | None, found: Estimates) -> None:
        """Keep an estimate of sizes."""
        of_store = self._kept.setdefault(store, {})
        if len(of_store) >= self._most:
            of_store.clear()
        of_store[org, project] = (time.monotonic() + self._seconds, replace(found, terms=()))


REMEMBERED = Remembered()


def rarity(share: float, stored: float) -> float:
    """``ln(1 + n / (1 + df))``: what a term tells, more the fewer observations hold it."""
    return math.log1p(stored / (1.0 + share * stored))
