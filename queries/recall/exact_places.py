"""Where one observation stands in every leg of a recall, within its pool or far beyond: exact, in one snapshot."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Integer, Text, Uuid, and_, bindparam, case, cast, func, or_, select
from sqlalchemy.dialects.postgresql import TSQUERY

from queries.engine import AGGREGATE
from queries.recall.asking import read_rows, settings_for
from queries.recall.estimates import estimates
from queries.recall.keywords import keywords
from queries.recall.legs import EMBEDDINGS, OBSERVATIONS, ORG, PROJECT, ROUTES, Search, keyword_leg, vector_leg

if TYPE_CHECKING:
    from uuid import UUID

    from sqlalchemy import Connection, Select

    from queries.engine import Store
    from queries.recall.asking import Asked
    from queries.recall.keywords import Keywords
    from queries.scope import Reach

WANTED = bindparam("wanted", type_=Uuid)


@dataclass(frozen=True)
class LegPlace:
    """One observation in one leg: its rank from 0 and score among all ``rows`` of it, against the pool's last score.

    Rank and score are None where the leg cannot see it; ``last`` is None where the pool is not full. ``dimensions`` are
    those of its vector on this route, None without one; ``holds_term`` says whether it has any term of the question.
    """

    leg: str
    pool: int
    rows: int
    rank: int | None = None
    score: float | None = None
    last: float | None = None
    dimensions: int | None = None
    holds_term: bool = False

    @property
    def within(self) -> bool:
        """Whether it stands inside the pool."""
        return self.rank is not None and self.rank < self.pool


@dataclass(frozen=True)
class FusedPlace:
    """One observation among all that any leg's pool holds: rank from 0 and score, against the last that is kept."""

    rank: int | None
    score: float | None
    last: float | None
    rows: int
    candidates: int

    @property
    def within(self) -> bool:
        """Whether it is among those kept."""
        return self.rank is not None and self.rank < self.candidates


@dataclass(frozen=True)
class ExactPlaces:
    """What recall sees of one observation of the scope; legs only where it is active, fused where there are several."""

    id: str
    status: str
    title: str
    content: str
    unsound: tuple[str, ...]
    dimensions: int
    legs: tuple[LegPlace, ...] = ()
    fused: FusedPlace | None = None


def exact_places(store: Store, reach: Reach, asked: Asked, wanted: UUID) -> ExactPlaces | None:
    """Where an observation stands in the legs asked; None if the scope has none of that id."""
    exact = Search.ORGANIZATION if asked.project is None else Search.PROJECT
    with store.reading(reach, AGGREGATE, name="why not", more=settings_for(exact, asked.pool)) as connection:
        values = {"org": asked.org, "project": asked.project, "wanted": wanted}
        row = connection.execute(_observation(in_project=asked.project is not None), values).one_or_none()
        if row is None:
            return None
        unsound = tuple(name for name in ("weight", "importance") if not math.isfinite(getattr(row, name) or 0.0))
        found = ExactPlaces(str(row.id), row.status, row.title or "", row.content, unsound, asked.dimensions)
        if row.status != "active":
            return found
        expected = estimates(connection, asked.org, asked.project, asked.text if "lexical" in asked.legs else "")
        terms = keywords(expected)
        legs = tuple(_leg(connection, asked, name, terms, values) for name in asked.legs)
        return replace(found, legs=legs, fused=_fused(connection, asked, terms, str(wanted)))


def _observation(*, in_project: bool) -> Select[Any]:
    seen = OBSERVATIONS.c
    limits = [seen.org_id == ORG, seen.id == WANTED, *([seen.project_id == PROJECT] if in_project else [])]
    return select(seen.id, seen.status, seen.title, seen.content, seen.weight, seen.importance).where(*limits)


def _leg(connection: Connection, asked: Asked, name: str, terms: Keywords | None, values: dict[str, Any]) -> LegPlace:
    route, in_project = ROUTES[name], asked.project is not None
    bound = {**asked.values(), **values, "vector": asked.vector, "last": max(asked.pool - 1, 0)}
    if route is None:
        if terms is None:
            return LegPlace(name, asked.pool, 0)
        bound |= terms.values(asked.pool)
        placed = connection.execute(_placed(None, 0, in_project=in_project), bound).one()
        held = connection.execute(_holds_term(), bound).scalar_one()
        return LegPlace(name, asked.pool, placed.rows, placed.rank, placed.score, placed.last, holds_term=held)
    placed = connection.execute(_placed(route, asked.dimensions, in_project=in_project), bound).one()
    stored = connection.execute(_dimensions(), {**values, "route": route}).scalar_one_or_none()
    return LegPlace(name, asked.pool, placed.rows, placed.rank, placed.score, placed.last, stored)


@cache
def _placed(route: str | None, dimensions: int, *, in_project: bool) -> Select[Any]:
    """Rank, score, number of rows and the pool's last score, among all that a leg would return without its pool."""
    # joined and not looked up from the nearest on: every row counts here
    leg = (
        keyword_leg(in_project=in_project)
        if route is None
        else vector_leg(route, dimensions, Search.PROJECT, in_project=in_project)
    )
    every = leg.order_by(None).limit(None).cte("every")
    mine = select(every.c.score).where(every.c.id == WANTED).scalar_subquery()
    beats = or_(every.c.score > mine, and_(every.c.score == mine, every.c.id < WANTED))
    last = select(every.c.score).order_by(every.c.score.desc(), every.c.id).limit(1)
    return select(
        mine.label("score"),
        case((mine.is_not(None), func.count().filter(beats))).label("rank"),
        func.count().label("rows"),
        last.offset(bindparam("last", type_=Integer)).scalar_subquery().label("last"),
    ).select_from(every)


def _holds_term() -> Select[Any]:
    any_term = cast(bindparam("any_term", type_=Text), TSQUERY)
    return select(OBSERVATIONS.c.search.op("@@")(any_term)).where(
        OBSERVATIONS.c.org_id == ORG, OBSERVATIONS.c.id == WANTED
    )


def _dimensions() -> Select[Any]:
    seen = EMBEDDINGS.c
    of_route = and_(seen.org_id == ORG, seen.observation_id == WANTED, seen.route == bindparam("route", type_=Text))
    return select(func.vector_dims(seen.embedding)).where(of_route)


def _fused(connection: Connection, asked: Asked, terms: Keywords | None, wanted: str) -> FusedPlace | None:
    """By the statement that recalls, only that nothing is cut off after the legs' pools."""
    legs = tuple(leg for leg in asked.legs if ROUTES[leg] is not None or terms is not None)
    if len(legs) < 2 or not asked.damping:  # noqa: PLR2004 - one leg is not fused, nor one after the other
        return None
    exact = Search.ORGANIZATION if asked.project is None else Search.PROJECT
    shape = replace(asked, embeddings=False, sessions=False).shape(legs, exact)
    bound = asked.values() | ({} if terms is None else terms.values(asked.pool)) | {"candidates": None}
    found = read_rows(connection, shape, bound)
    place = next((place for place, row in enumerate(found) if row[0] == wanted), None)
    last = found[asked.candidates - 1][1] if 0 < asked.candidates <= len(found) else None
    score = None if place is None else float(found[place][1])
    return FusedPlace(place, score, last, len(found), asked.candidates)
