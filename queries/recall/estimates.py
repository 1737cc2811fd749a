"""What a recall may cost before it runs: the planner's own row estimates, which cost no reading at any size."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from queries.rounds import Statement, ask_at_once
from queries.schema import ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from queries.connections import DeadlineConnection
    from queries.engine import Store
    from queries.rounds import Rows

LONGEST_QUESTION = 16_000  # characters of a question that are read for terms; a page of text has 3 000
MOST_TERMS = 64  # distinct terms of a question that are looked at, in the order they were written

# Stop words and metacharacters are gone in a tsvector: what comes out are words, whatever went in.
# A table in parts counts no rows itself unless someone analyzed it, and no analyze runs by itself for it.
SURVEY = b"""select coalesce((select sum(greatest(p.reltuples, 0)) from pg_partition_tree('observations') t
                         join pg_class p on p.oid = t.relid where t.isleaf), greatest(reltuples, 0))::float8,
              array(select lexeme from unnest(to_tsvector('english', $1::text))
                     order by positions[1], lexeme limit $2::int),
              array(select pg_get_indexdef(i.indexrelid) from pg_index i join pg_class x on x.oid = i.indexrelid
                     where i.indrelid = 'observation_embeddings'::regclass and i.indisvalid
                       and x.relam in (select oid from pg_am where amname in ('hnsw', 'ivfflat')))
         from pg_class where oid = 'observations'::regclass"""

ALL = "select from observations"
MINE = "select from observations where org_id = $1::text and status = 'active'"
OF_PROJECT = "select from observations where org_id = $1::text and project_id = $2::text and status = 'active'"
WITH_TERM = "select from observations where search @@ ${}::tsquery"


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
    """The estimates for one recall inside a snapshot that is already open; an empty question has no terms."""
    raw: DeadlineConnection = connection.connection.driver_connection  # type: ignore[assignment]
    (surveyed,) = ask_at_once(raw, [survey(question)], prepares=False)
    (planned,) = ask_at_once(raw, [expecting(org, project, surveyed)], prepares=False)
    return expected(surveyed, planned, in_project=project is not None)


def survey(question: str) -> Statement:
    """What asks for the size of the store, the terms of a question, and the indexes there are."""
    return Statement(SURVEY, (_readable(question), MOST_TERMS))


def expecting(org: str, project: str | None, surveyed: Rows) -> Statement:
    """What asks how many rows the planner expects of the store, the organization, each term and the project."""
    terms = [as_query(term) for term in surveyed[0][1]]
    names = [org] if project is None else [org, project]
    return Statement(_explain(len(terms), in_project=project is not None), [*names, *terms], is_kept=False)


@lru_cache(maxsize=2 * (MOST_TERMS + 1))
def _explain(terms: int, *, in_project: bool) -> bytes:
    first = 3 if in_project else 2
    parts = [ALL, MINE, *(WITH_TERM.format(first + n) for n in range(terms)), *([OF_PROJECT] if in_project else [])]
    # Behind an offset each stays one member of the plan, also where the table is in parts, which would all be members.
    return f"explain (format json, costs true) {' union all '.join(f'({part} offset 0)' for part in parts)}".encode()


def expected(surveyed: Rows, planned: Rows, *, in_project: bool) -> Estimates:
    """The estimates that two such answers amount to."""
    stored, terms, indexes = surveyed[0]
    every, mine, *others = _planned_rows(planned)
    # Row security thins out every part alike, so only ratios mean anything.
    return Estimates(
        stored=max(stored, every),
        organization=mine / every,
        project=others.pop() / every if in_project else mine / every,
        terms=tuple((term, rows / every) for term, rows in zip(terms, others, strict=True)),
        indexes=tuple(indexes),
    )


def _readable(question: str) -> str:
    """The beginning of a question without what Postgres cannot store."""
    return question[:LONGEST_QUESTION].replace("\0", " ").encode(errors="replace").decode()


def as_query(term: str) -> str:
    """A term as the text of a tsquery that matches it and nothing else."""
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"


def _planned_rows(plan: Rows) -> list[float]:
    """How many rows the planner expects of each part; at least one each, so that ratios exist."""
    members = [part for part in plan[0][0][0]["Plan"]["Plans"] if part["Parent Relationship"] == "Member"]
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
