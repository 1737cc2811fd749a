"""The statements of a recall: one leg by itself, or several fused by the places their rows hold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    Double,
    Integer,
    Text,
    and_,
    bindparam,
    cast,
    exists,
    func,
    literal_column,
    null,
    select,
    union_all,
)
from sqlalchemy.dialects.postgresql import psycopg

from queries.moments import datable_microseconds
from queries.recall.legs import EMBEDDINGS, OBSERVATIONS, ORG, ROUTES, Search, keyword_leg, mine, vector_leg
from queries.rounds import Statement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import ColumnElement, FromClause, Select

NO_DATE = literal_column("'-9223372036854775808'::bigint", BigInteger)  # as numpy writes NaT
# What every row brings along after id, score and legs, in this order.
COLUMNS = (
    # a store that allows none there means what the platform's own defaults say
    func.coalesce(OBSERVATIONS.c.weight, literal_column("1")).label("weight"),
    func.coalesce(OBSERVATIONS.c.importance, literal_column("0")).label("importance"),
    # Memsense's own rule: null is 0, and a NaN stays, to be read as not given (002)
    func.coalesce(OBSERVATIONS.c.memory_score, literal_column("0")).label("memory_score"),
    (OBSERVATIONS.c.kind == literal_column("'reflection'")).label("is_reflection"),
    func.coalesce(OBSERVATIONS.c.reflection_depth, literal_column("0")).label("reflection_depth"),
    OBSERVATIONS.c.granularity,
    OBSERVATIONS.c.session_id,
    OBSERVATIONS.c.agent_id,
    OBSERVATIONS.c.source,
    OBSERVATIONS.c.tags,
    func.coalesce(OBSERVATIONS.c.title, literal_column("''")).label("title"),
    OBSERVATIONS.c.content,
)
TIMES = ("created_at", "last_accessed_at")


@dataclass(frozen=True)
class Shape:
    """What the text of a statement depends on; everything else is bound when it runs.

    Statements are made once per shape: building one takes longer than a small organization takes to search.
    """

    legs: tuple[str, ...]
    dimensions: int = 0
    search: Search = Search.ORGANIZATION
    indexed: frozenset[str] = frozenset()
    in_project: bool = False
    embeddings: bool = False
    sessions: bool = False
    fused: bool = False

    def names(self) -> tuple[str, ...]:
        """What the columns of the answer are called here."""
        return _names(self)

    @property
    def is_alone(self) -> bool:
        """Whether this is one leg by itself, and not what is left of several."""
        return len(self.legs) == 1 and not self.fused

    @property
    def is_nearest(self) -> bool:
        """Whether this is one vector leg that can bring its columns along: through no sort of all rows of a project."""
        route = ROUTES[self.legs[0]]
        return self.is_alone and route is not None and self.how(route) is not Search.PROJECT and not self.sessions

    def how(self, route: str) -> Search:
        """How one route is searched: all of it where it has no index."""
        if self.search is not Search.INDEX or route in self.indexed:
            return self.search
        return Search.PROJECT if self.in_project else Search.ORGANIZATION

    def statement(self) -> Select[Any]:
        """``id, score``, a place and a score per leg, and every column that a stage reads; best first, ties by id.

        Where it ``is_nearest``, place and score of the leg are left out: they are those of the row. The score of one
        leg is its own; of several, and of one that is ``fused``, ``Σ 1/(:damping + place)`` with places from 0.
        """
        return _statement(self)

    def bound(self, values: Mapping[str, Any]) -> Statement:
        """The statement's text with values for its parameters, as the server takes it.

        SQLAlchemy takes longer to find a statement of this size in its cache than Postgres takes to answer it.
        """
        text, names, fixed = _compiled(self)
        bound = {**fixed, **values}
        return Statement(text, [bound[name] for name in names])


def numbered(statement: Select[Any]) -> tuple[bytes, tuple[str, ...], Mapping[str, Any]]:
    """The text of a statement with numbered parameters, their names in that order, and the values that some have."""
    found = statement.compile(dialect=psycopg.dialect(paramstyle="numeric_dollar"))  # type: ignore[no-untyped-call]
    return str(found).encode(), tuple(found.positiontup or ()), found.params


@cache
def _compiled(shape: Shape) -> tuple[bytes, tuple[str, ...], Mapping[str, Any]]:
    return numbered(_statement(shape))


@cache
def _names(shape: Shape) -> tuple[str, ...]:
    numbers = () if shape.is_nearest else range(len(shape.legs))
    of_legs = [*(f"place_{n}" for n in numbers), *(f"score_{n}" for n in numbers)]
    more = ["embedding"] if shape.embeddings else []
    return ("id", "score", *of_legs, *(column.name for column in COLUMNS), *TIMES, *more)


@cache
def _statement(shape: Shape) -> Select[Any]:
    if shape.is_nearest:
        return _nearest(shape)
    hits = [_placed(name, shape, number) for number, name in enumerate(shape.legs)]
    found = _alone(hits[0]) if shape.is_alone else _best(_fused(shape, union_all(*hits).cte("hit")))
    if shape.sessions:
        found = union_all(select(*found.c), _sessions_of_turns(found, shape)).cte("held")
    return (
        select(cast(found.c.id, Text), *list(found.c)[1:], *_columns(shape))
        .select_from(found.join(OBSERVATIONS, and_(OBSERVATIONS.c.org_id == ORG, OBSERVATIONS.c.id == found.c.id)))
        .order_by(found.c.score.desc(), found.c.id)
    )


def _nearest(shape: Shape) -> Select[Any]:
    """One vector leg, whose rows are read once; its places are left to whoever counts them."""
    route = ROUTES[shape.legs[0]] or ""
    leg = vector_leg(route, shape.dimensions, shape.how(route), in_project=shape.in_project, carried=_columns(shape))
    id_, *others = leg.selected_columns
    return leg.with_only_columns(cast(id_, Text), *others)


def _best(fused: FromClause) -> FromClause:
    best = select(*fused.c).order_by(fused.c.score.desc(), fused.c.id)
    return best.limit(bindparam("candidates", type_=Integer)).cte("chosen")


def _placed(name: str, shape: Shape, number: int) -> Select[Any]:
    route = ROUTES[name]
    leg = (
        keyword_leg(in_project=shape.in_project)
        if route is None
        else vector_leg(route, shape.dimensions, shape.how(route), in_project=shape.in_project)
    ).subquery(name)
    place = func.row_number().over(order_by=(leg.c.score.desc(), leg.c.id)) - 1
    return select(literal_column(str(number), Integer).label("leg"), leg.c.id, leg.c.score, place.label("place"))


def _fused(shape: Shape, hit: FromClause) -> FromClause:
    """One row per id with its place and score in every leg, and the sum of its shares in the order of the legs."""
    numbers = range(len(shape.legs))
    pivoted = (
        select(
            hit.c.id,
            *(func.max(hit.c.place).filter(hit.c.leg == literal_column(str(n))).label(f"place_{n}") for n in numbers),
            *(func.max(hit.c.score).filter(hit.c.leg == literal_column(str(n))).label(f"score_{n}") for n in numbers),
        )
        .group_by(hit.c.id)
        .subquery("pivoted")
    )
    one, none = literal_column("1.0::float8", Double), literal_column("0.0::float8", Double)
    damping = cast(bindparam("damping", type_=Double), Double)
    shares = [func.coalesce(one / (damping + pivoted.c[f"place_{n}"]), none) for n in numbers]
    total = sum(shares[1:], start=shares[0])
    return select(pivoted.c.id, total.label("score"), *list(pivoted.c)[1:]).subquery("fused")


def _alone(hit: Select[Any]) -> FromClause:
    """A leg by itself is as long as its pool, and its score is the score."""
    leg = hit.subquery("hit")
    return select(leg.c.id, leg.c.score, leg.c.place.label("place_0"), leg.c.score.label("score_0")).cte("chosen")


def _sessions_of_turns(chosen: FromClause, shape: Shape) -> Select[Any]:
    """Sessions that only their turns were found of: they enter without a place or score of their own (002)."""
    known = OBSERVATIONS.alias("known")
    of_chosen = and_(known.c.org_id == ORG, known.c.id.in_(select(chosen.c.id)))
    turns = select(known.c.session_id).where(of_chosen, known.c.granularity == "turn")
    present = exists().where(
        of_chosen, known.c.granularity == "session", known.c.session_id == OBSERVATIONS.c.session_id
    )
    numbers = range(len(shape.legs))
    nothing = [cast(null(), Integer) for _ in numbers] + [cast(null(), Double) for _ in numbers]
    return select(OBSERVATIONS.c.id, literal_column("0.0::float8").label("score"), *nothing).where(
        mine(OBSERVATIONS, in_project=shape.in_project),
        OBSERVATIONS.c.granularity == "session",
        OBSERVATIONS.c.session_id.in_(turns),
        ~present,
    )


def _columns(shape: Shape) -> list[ColumnElement[Any]]:
    columns: list[ColumnElement[Any]] = [*COLUMNS, *(_moment(OBSERVATIONS.c[name]).label(name) for name in TIMES)]
    if shape.embeddings:
        # As bytes: reading numbers out of text takes longer than finding them.
        vector = (
            select(func.vector_send(EMBEDDINGS.c.embedding))
            .where(
                EMBEDDINGS.c.org_id == ORG,
                EMBEDDINGS.c.observation_id == OBSERVATIONS.c.id,
                EMBEDDINGS.c.route == literal_column("'full'"),
                func.vector_dims(EMBEDDINGS.c.embedding) == literal_column(str(shape.dimensions)),
            )
            # By itself it would also be joined to the vectors that an index search reads beside the observations.
            .correlate(OBSERVATIONS)
            .scalar_subquery()
        )
        columns.append(vector.label("embedding"))
    return columns


def _moment(column: ColumnElement[Any]) -> ColumnElement[int]:
    """Microseconds since 1970 in UTC: numpy takes as long over twenty dates as Postgres over finding them."""
    return func.coalesce(datable_microseconds(column), NO_DATE)
