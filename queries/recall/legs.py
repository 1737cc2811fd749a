"""The legs of a recall as subqueries: one per kind of vector, and full text; best first, each row with its place."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from pgvector.sqlalchemy import VECTOR
from sqlalchemy import (
    Boolean,
    Double,
    Integer,
    and_,
    bindparam,
    cast,
    column,
    distinct,
    func,
    literal,
    literal_column,
    not_,
    or_,
    select,
    true,
    union,
    union_all,
)
from sqlalchemy.dialects.postgresql import ARRAY, REAL, TSQUERY
from sqlalchemy.types import Text

from queries import schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, FromClause, Select, Subquery

    Columns = Sequence[ColumnElement[Any]]

OBSERVATIONS, EMBEDDINGS = schema.observations, schema.observation_embeddings

# What Memsense calls its routes (002), in its order of vectors, full text and facets.
ROUTES = {
    "vec_full": "full",
    "vec_user": "user",
    "vec_asst": "assistant",
    "vec_next_user": "next_user",
    "lexical": None,
    "facet_personal_info": "personal_info",
    "facet_preferences": "preferences",
    "facet_events": "events",
}

ORG = bindparam("org", type_=Text)
PROJECT = bindparam("project", type_=Text)
POOL = bindparam("pool", type_=Integer)
EVERY_PLACE_COUNTS = literal_column("'{1,1,1,1}'", ARRAY(REAL))
BY_LENGTH = 1  # divided by log2(1 + length): a whole session holds any word, and says less with each


class Search(Enum):
    """How nearest vectors are found: among all of the organization's, all of the project's, or through an index."""

    ORGANIZATION = "organization"
    PROJECT = "project"
    INDEX = "index"


def mine(table: FromClause, *, in_project: bool) -> ColumnElement[bool]:
    """The organization's active observations, or its project's."""
    limits = [table.c.org_id == ORG, table.c.status == "active"]
    return and_(*limits, table.c.project_id == PROJECT) if in_project else and_(*limits)


def vector_leg(route: str, dimensions: int, search: Search, *, in_project: bool, carried: Columns = ()) -> Select[Any]:
    """``id, score`` of the ``:pool`` nearest to ``:vector`` on one route, nearest first and then by id.

    ``carried`` are columns of the observations that come along, so that nobody looks the rows up again. Routes and
    dimensions stand in the text: bound, they would hide the partial index from the planner.
    """
    asked = cast(bindparam("vector", type_=VECTOR), VECTOR(dimensions))
    of_route = and_(
        EMBEDDINGS.c.org_id == ORG,
        EMBEDDINGS.c.route == literal_column(f"'{route}'"),
        func.vector_dims(EMBEDDINGS.c.embedding) == literal_column(str(dimensions)),
    )
    if search is Search.ORGANIZATION:
        # Asked for by a query of its own: one plan for all would read the text of the vector again for every row.
        once = select(asked).scalar_subquery()
        near = _within_organization(once, of_route, in_project=in_project, carried=carried)
    else:
        # Only the cast matches an index; without it the planner has to compare every vector.
        stored = cast(EMBEDDINGS.c.embedding, VECTOR(dimensions)) if search is Search.INDEX else EMBEDDINGS.c.embedding
        distance = stored.op("<=>", return_type=Double)(asked)
        near = _within_join(distance, of_route, search, in_project=in_project, carried=carried)
    # A vector without length has no direction: its distance is not a number.
    sound = near.c.distance < literal_column("'NaN'::float8")
    return (
        select(near.c.id, cast(1.0 - near.c.distance, Double).label("score"), *list(near.c)[2:])
        .where(sound)
        .order_by(near.c.distance, near.c.id)
        .limit(POOL)
    )


def _within_organization(
    asked: ColumnElement[Any], of_route: ColumnElement[bool], *, in_project: bool, carried: Columns
) -> Subquery:
    """Every vector sorted, and observations looked up from the nearest on only until there are enough."""
    distance = EMBEDDINGS.c.embedding.op("<=>", return_type=Double)(asked).label("distance")
    near = (
        select(EMBEDDINGS.c.observation_id.label("id"), distance)
        .where(of_route)
        .order_by(distance, EMBEDDINGS.c.observation_id)
        .offset(literal_column("0"))
        .subquery("near")
    )
    active = (
        select(*(carried or (literal(1).label("found"),)))
        .where(mine(OBSERVATIONS, in_project=in_project), OBSERVATIONS.c.id == near.c.id)
        .offset(literal_column("0"))
        .lateral("active")
    )
    more = active.c if carried else ()
    return select(near.c.id, near.c.distance, *more).select_from(near.join(active, true())).subquery("found")


def _within_join(
    distance: ColumnElement[float],
    of_route: ColumnElement[bool],
    search: Search,
    *,
    in_project: bool,
    carried: Columns,
) -> Subquery:
    together = and_(EMBEDDINGS.c.org_id == OBSERVATIONS.c.org_id, EMBEDDINGS.c.observation_id == OBSERVATIONS.c.id)
    found = (
        select(EMBEDDINGS.c.observation_id.label("id"), distance.label("distance"), *carried)
        .select_from(EMBEDDINGS.join(OBSERVATIONS, together))
        .where(of_route, mine(OBSERVATIONS, in_project=in_project))
    )
    return (found.order_by(distance).limit(POOL) if search is Search.INDEX else found).subquery("found")


def keyword_leg(*, in_project: bool) -> Select[Any]:
    """``id, score`` of the ``:pool`` best by the terms they hold, rare ones counting more, best first and then by id.

    Scored are what the index finds for ``:lookup`` and, of the ``:newest``, those with any of the terms. While that is
    less than the pool and there are older ones: also those of the newest ``:window``, then the newest ``:matches`` of
    all that the index finds with any of the terms.
    """
    matched = _matched(in_project=in_project)
    term = (
        func.unnest(
            cast(bindparam("terms", type_=ARRAY(Text)), ARRAY(TSQUERY)),
            cast(bindparam("shares", type_=ARRAY(Double)), ARRAY(Double)),
        )
        .table_valued(column("query", TSQUERY), column("share", Double), name="term")
        .render_derived()
    )
    rank = func.ts_rank(EVERY_PLACE_COUNTS, matched.c.search, term.c.query, BY_LENGTH)
    score = cast(select(func.sum(term.c.share * rank)).select_from(term).scalar_subquery(), Double).label("score")
    scored = select(matched.c.id, score).subquery("scored")
    # A row that both found is scored twice, which costs less than looking whether it was.
    best = func.max(scored.c.score, type_=Double).label("score")
    return select(scored.c.id, best).group_by(scored.c.id).order_by(best.desc(), scored.c.id).limit(POOL)


def _matched(*, in_project: bool) -> Subquery:
    """``id, search`` of what is scored; a row may come twice.

    The conditions name no column, so Postgres decides them once, and what they exclude is never begun.
    """
    lookup = cast(bindparam("lookup", type_=Text), TSQUERY)
    any_term = cast(bindparam("any_term", type_=Text), TSQUERY)
    limits = mine(OBSERVATIONS, in_project=in_project)
    columns = (OBSERVATIONS.c.id, OBSERVATIONS.c.search)
    by_age = OBSERVATIONS.c.created_at.desc()

    def latest(name: str, *conditions: ColumnElement[bool]) -> tuple[Select[Any], ColumnElement[bool]]:
        """Those of the latest with any of the terms, and whether there are older ones."""
        many = bindparam(name, type_=Integer)
        read = select(*columns).where(limits, *conditions).order_by(by_age).limit(many).cte(name)
        counted = select(func.count()).select_from(read).scalar_subquery()
        return select(*read.c).where(read.c.search.op("@@")(any_term)), and_(
            many > literal_column("0"), counted >= many
        )

    by_time, more_than_newest = latest("newest")
    sure = or_(not_(bindparam("is_small", type_=Boolean)), more_than_newest)
    by_index = select(*columns).where(limits, OBSERVATIONS.c.search.op("@@")(lookup), sure)
    first = by_index.union_all(by_time).cte("first_matched")
    by_more_time, more_than_window = latest("window", more_than_newest, _fewer_than_pool(first))
    second = by_more_time.cte("second_matched")
    # Fenced in: in the order of time every observation would be read until there are enough.
    holding = (
        select(*columns, OBSERVATIONS.c.created_at)
        .where(limits, OBSERVATIONS.c.search.op("@@")(any_term), more_than_window, _fewer_than_pool(first, second))
        .offset(literal_column("0"))
        .subquery("holding")
    )
    matches = func.greatest(POOL, bindparam("matches", type_=Integer), type_=Integer)
    third = select(holding.c.id, holding.c.search).order_by(holding.c.created_at.desc()).limit(matches).subquery()
    return union_all(*(select(part.c.id, part.c.search) for part in (first, second, third))).subquery("matched")


def _fewer_than_pool(*parts: FromClause) -> ColumnElement[bool]:
    ids = union(*(select(part.c.id) for part in parts)).subquery() if len(parts) > 1 else parts[0]
    return select(func.count(distinct(ids.c.id))).scalar_subquery() < POOL
