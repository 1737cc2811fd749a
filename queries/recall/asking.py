"""One recall: estimate, choose how to search, ask, and ask anew and exactly where an index came up short."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import psycopg
from sqlalchemy import exc, literal_column, select

from queries.connections import WireVector
from queries.engine import AGGREGATE
from queries.errors import StoreError
from queries.recall.estimates import REMEMBERED, Estimates, expected, expecting, survey
from queries.recall.keywords import keywords
from queries.recall.legs import OBSERVATIONS, ROUTES, Search, mine
from queries.recall.rows import Found, found
from queries.recall.statements import Shape, numbered
from queries.rounds import OUTDATED, Statement, ask_at_once, snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt
    from sqlalchemy import Connection

    from queries.connections import DeadlineConnection
    from queries.engine import Store
    from queries.rounds import Rows
    from queries.scope import Reach

# A generic plan could not use a partial index, and a parallel one takes other callers' cores.
SETTINGS = {"plan_cache_mode": "force_custom_plan", "max_parallel_workers_per_gather": "0"}
# Row security filters what the index finds: without iterative scans a small share of the rows would be found. In
# relaxed order, because strict order drops what comes late: the statement sorts again. To sort is what the planner
# would otherwise prefer, for it knows nothing about the dimensions of the vectors.
INDEX_SETTINGS = {"hnsw.iterative_scan": "relaxed_order", "enable_sort": "off"}
LEAST_KEPT, MOST_KEPT = 60, 1_000  # candidates a graph search keeps: pgvector's 40 found 95 %, and it takes 1 000
SPARSE_KEPT = 600  # of an organization with a small share of the vectors: 60 found 93 %, and then searched again
SPARE = 1.5  # times as many as its pool is expected among: with just as many, one graph in three found less than 95 %
# Reading a vector of the organization costs about 3 µs, a step through the graph 10 µs, and of many steps only the
# organization's share counts: comparing all n of the organization is cheaper while n² < 5 · pool · stored.
STEPS = 5.0
# Comparing all vectors of an organization is one plan whoever asks, and planning took a third of the time of a small
# one. Its averages must not tempt the planner into reading every organization's.
ONE_PLAN = {"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "enable_sort": "on"}


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of the store: by which legs, how many rows of each, and how many of all together."""

    org: str
    project: str | None
    text: str
    vector: npt.NDArray[np.float32] | None
    now: np.datetime64 | None
    legs: tuple[str, ...]
    pool: int
    candidates: int
    damping: float = 0.0
    embeddings: bool = False
    sessions: bool = False
    also: Statement | None = None  # asked in the same round trip: one of its own costs as much again

    @property
    def by_vector(self) -> bool:
        """Whether any leg compares vectors."""
        return any(ROUTES[leg] is not None for leg in self.legs)

    @property
    def dimensions(self) -> int:
        """The length of the question's vector."""
        return 0 if self.vector is None else int(self.vector.size)

    def shape(self, legs: tuple[str, ...], search: Search, indexed: frozenset[str] = frozenset()) -> Shape:
        """The shape of a statement that asks this by some legs."""
        return Shape(
            legs=legs,
            dimensions=self.dimensions,
            indexed=indexed,
            search=search,
            in_project=self.project is not None,
            embeddings=self.embeddings and self.vector is not None,
            sessions=self.sessions,
            fused=self.damping > 0,
        )

    def values(self) -> dict[str, Any]:
        """What is bound when that statement runs."""
        vector = None if self.vector is None else on_the_wire(self.vector)
        sizes = {"pool": self.pool, "candidates": self.candidates, "damping": self.damping}
        return {"org": self.org, "project": self.project, "vector": vector, **sizes}


def ask(store: Store, reach: Reach, asked: Asked) -> Found:
    """The candidates of one recall, asked once more where the connection was cut meanwhile: reading can be repeated.

    So it is where what had been prepared on a connection was no longer so; then nothing is prepared.
    """
    try:
        return _ask(store, reach, asked)
    except StoreError as error:
        if error.kind == "silent" or not _can_be_repeated(error.__cause__):
            raise
        return _ask(store, reach, asked, prepares=False)


def _can_be_repeated(error: BaseException | None) -> bool:
    """Whether the connection was cut, or what was prepared on it was outdated."""
    if isinstance(error, exc.DBAPIError):
        return error.connection_invalidated
    late = psycopg.errors.QueryCanceled
    return isinstance(error, (psycopg.OperationalError, *OUTDATED)) and not isinstance(error, late)


def _ask(store: Store, reach: Reach, asked: Asked, *, prepares: bool = True) -> Found:
    by_keyword = "lexical" in asked.legs
    known = None if by_keyword else REMEMBERED.get(store, asked.org, asked.project)
    search = None if known is None else chosen_search(asked, known)
    more = SETTINGS if search is None or known is None else _settings(asked, search, known)
    also = [] if asked.also is None else [asked.also]
    with snapshot(store, reach, AGGREGATE, name="recall", more=more, prepares=prepares) as snap:
        beside: list[Rows] = []
        if known is None or search is None:
            *beside, surveyed = snap.ask(*also, survey(asked.text if by_keyword else ""))
            (planned,) = snap.ask(expecting(asked.org, asked.project, surveyed))
            known = expected(surveyed, planned, in_project=asked.project is not None)
            REMEMBERED.put(store, asked.org, asked.project, known)
            search = chosen_search(asked, known)
            more, also = _settings(asked, search, known), []
        terms = keywords(known)
        legs = tuple(leg for leg in asked.legs if ROUTES[leg] is not None or terms is not None)
        if not legs:
            nothing = found([], Shape(asked.legs, embeddings=False), asked.text, asked.now)
            return replace(nothing, beside=beside)
        values = asked.values() | ({} if terms is None else terms.values(asked.pool))
        shape = asked.shape(legs, search, known.indexed(asked.dimensions))
        *with_rows, rows = snap.ask(*also, shape.bound(values), more=more, ends=True)
        if search is Search.INDEX and _is_short(rows, asked, shape):
            exact = Search.ORGANIZATION if asked.project is None else Search.PROJECT
            shape = asked.shape(legs, exact)
            (rows,) = snap.ask(shape.bound(values), more=_settings(asked, exact, known), ends=True)
        is_empty = not rows and not snap.ask(_anything(asked), ends=True)[0]
    return replace(found(rows, shape, asked.text, asked.now), scope_is_empty=is_empty, beside=beside or with_rows)


def _settings(asked: Asked, search: Search, expected: Estimates) -> dict[str, str]:
    """The settings of the statement that asks this one way."""
    if search is Search.ORGANIZATION and asked.shape(asked.legs, search).is_nearest:
        return SETTINGS | ONE_PLAN
    return settings_for(search, asked.pool, expected.organization if asked.project is None else expected.project)


def settings_for(search: Search, pool: int, share: float = 1.0) -> dict[str, str]:
    """The settings of a statement that searches one way; a graph search that keeps fewer than its pool is run twice.

    ``share`` of what a graph search meets is the organization's or project's, and only that counts.
    """
    if search is not Search.INDEX:
        return SETTINGS | {"enable_sort": "on", "enable_seqscan": "on"}
    among_others = min(SPARE * pool / share, SPARSE_KEPT) if share > 0.0 else SPARSE_KEPT
    kept = min(max(LEAST_KEPT, pool, round(among_others)), MOST_KEPT)
    return SETTINGS | INDEX_SETTINGS | {"hnsw.ef_search": str(kept)}


def chosen_search(asked: Asked, expected: Estimates) -> Search:
    """The cheapest way to the nearest vectors, by how many there are to compare."""
    few = math.sqrt(STEPS * asked.pool * expected.stored)
    indexed = asked.by_vector and "full" in expected.indexed(asked.dimensions)
    if not indexed and asked.project is not None:
        return Search.PROJECT
    if not indexed or expected.organization * expected.stored <= few:
        return Search.ORGANIZATION
    if asked.project is not None and expected.project * expected.stored <= few:
        return Search.PROJECT
    return Search.INDEX


def on_the_wire(vector: npt.NDArray[np.float32]) -> WireVector:
    """A vector as pgvector receives it: writing it as text takes twenty times as long, and so does reading that."""
    return WireVector(struct.pack(">HH", vector.size, 0) + vector.astype(">f4").tobytes())


def read_rows(connection: Connection, shape: Shape, values: Mapping[str, Any]) -> Rows:
    """The rows of a shape's statement, inside a snapshot that is already open."""
    raw: DeadlineConnection = connection.connection.driver_connection  # type: ignore[assignment]
    try:
        return ask_at_once(raw, [shape.bound(values)], prepares=False)[0]
    finally:
        if raw.closed:
            # The pool must not try to end the transaction of a connection that is gone.
            connection.invalidate()


def _anything(asked: Asked) -> Statement:
    text, names, fixed = _any_of_scope(in_project=asked.project is not None)
    values = {**fixed, **asked.values()}
    return Statement(text, [values[name] for name in names])


@cache
def _any_of_scope(*, in_project: bool) -> tuple[bytes, tuple[str, ...], Mapping[str, Any]]:
    return numbered(
        select(literal_column("1")).where(mine(OBSERVATIONS, in_project=in_project)).limit(literal_column("1"))
    )


def _is_short(rows: Sequence[Sequence[Any]], asked: Asked, shape: Shape) -> bool:
    """Whether the legs found fewer than were asked for, though the first was not full.

    Sessions that came along with their turns have no place: no leg found them.
    """
    if shape.is_nearest:
        return len(rows) < min(asked.candidates, asked.pool)
    first = 2
    places = [row[first : first + len(shape.legs)] for row in rows]
    found = sum(any(place is not None for place in of_row) for of_row in places)
    in_first = sum(of_row[0] is not None for of_row in places)
    return found < asked.candidates and in_first < asked.pool
