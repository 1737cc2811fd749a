"""Every retrieval that logged an observation: counted, paged by key, and gathered for one time axis."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import Double, Text, and_, case, cast, func, literal, or_, select, tuple_, union_all

from queries import schema
from queries.engine import AGGREGATE
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from uuid import UUID

    from sqlalchemy import CTE, ColumnElement, Select

    from queries.scope import Scope

PAGE = 50
LONGEST_QUERY = 2_000
GATHERED = 120  # marks per lane of the timeline: what is nearer than a pixel or two is one mark with its count


def retrievals_of(scope: Scope, observation: UUID, shape: LogShape) -> CTE:
    """One row per retrieval that logged the observation; of several log rows in one, the best ranks."""
    log = shape.rows(scope)
    return (
        select(
            log.c.retrieval,
            func.min(log.c.at).label("at"),
            func.min(log.c.session_id).label("session_id"),
            func.min(log.c.query_text).label("query_text"),
            func.min(log.c.unweighted_rank).label("unweighted_rank"),
            func.min(log.c.weighted_rank).label("weighted_rank"),
            func.bool_or(log.c.injected).label("injected"),
            func.bool_and(log.c.weighting_enabled).label("weighted"),
            func.count().label("log_rows"),
        )
        .where(log.c.observation_id == observation)
        .group_by(log.c.retrieval)
        .cte("each")
    )


def _its_session(each: CTE, scope: Scope) -> ColumnElement[bool]:
    return and_(schema.sessions.c.org_id == scope.org, schema.sessions.c.id == each.c.session_id)


@dataclass(frozen=True)
class TotalsRow:
    """Counts over every retrieval that logged the observation, and over the sessions it was injected into."""

    retrievals: int
    log_rows: int
    repeated: int
    unranked: int
    newest: datetime | None
    injected: int
    injection_unknown: int
    weighted: int
    up: int
    down: int
    sessions: int
    accepted: int
    rejected: int
    rework: int
    unknown_outcome: int


@dataclass(frozen=True)
class RetrievalTotals:
    """The observation's retrievals in numbers; one row, also where there was none."""

    scope: Scope
    id: UUID
    shape: LogShape = COMPLETE_SHAPE
    row: ClassVar[type] = TotalsRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """A session counts once, however often it was given the observation."""
        each, sessions = retrievals_of(self.scope, self.id, self.shape), schema.sessions
        ranked = and_(each.c.unweighted_rank.is_not(None), each.c.weighted_rank.is_not(None))
        # unlike a difference never out of range, whatever the ranks are
        up, down = each.c.weighted_rank < each.c.unweighted_rank, each.c.weighted_rank > each.c.unweighted_rank
        given = func.count(each.c.session_id.distinct())
        by_outcome = [given.filter(each.c.injected, sessions.c.outcome == name) for name in schema.OUTCOMES]
        return select(
            func.count(),
            func.coalesce(func.sum(each.c.log_rows), 0),
            func.count().filter(each.c.log_rows > 1),
            func.count().filter(ranked.is_not(True)),
            func.max(each.c.at),
            func.count().filter(each.c.injected),
            func.count().filter(each.c.injected.is_(None)),
            func.count().filter(each.c.weighted),
            func.count().filter(each.c.weighted, up),
            func.count().filter(each.c.weighted, down),
            given.filter(each.c.injected),
            *by_outcome,
            given.filter(each.c.injected, sessions.c.outcome.not_in(schema.OUTCOMES)),
        ).select_from(each.outerjoin(sessions, _its_session(each, self.scope)))


@dataclass(frozen=True)
class RetrievalRow:
    """One retrieval that logged the observation; ranks from 0, as they are stored."""

    retrieval: str
    at: datetime
    session_id: str
    outcome: str | None
    query_text: str
    unweighted_rank: int | None
    weighted_rank: int | None
    injected: bool | None
    weighted: bool


@dataclass(frozen=True)
class Retrievals:
    """A page of the observation's retrievals, newest first, from just below a known one on."""

    scope: Scope
    id: UUID
    shape: LogShape = COMPLETE_SHAPE
    below: tuple[datetime, str] | None = None
    row: ClassVar[type] = RetrievalRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """One row more than a page holds, where there are more: by that a reader knows."""
        page, sessions = self._page(), schema.sessions
        return (
            select(
                page.c.retrieval,
                page.c.at,
                page.c.session_id,
                sessions.c.outcome,
                func.left(page.c.query_text, LONGEST_QUERY),
                page.c.unweighted_rank,
                page.c.weighted_rank,
                page.c.injected,
                page.c.weighted,
            )
            .select_from(page.outerjoin(sessions, _its_session(page, self.scope)))
            .order_by(page.c.at.desc(), page.c.retrieval.desc())
        )

    def _page(self) -> CTE:
        """The page is cut before sessions are looked up: those of every retrieval took as long as all the rest."""
        each = retrievals_of(self.scope, self.id, self.shape)
        asked = select(*each.c)
        if self.below is not None:
            at, retrieval = self.below
            asked = asked.where(
                tuple_(each.c.at, each.c.retrieval) < tuple_(literal(at, schema.MOMENT), literal(retrieval, Text))
            )
        return asked.order_by(each.c.at.desc(), each.c.retrieval.desc()).limit(PAGE + 1).cte("page")


@dataclass(frozen=True)
class MomentRow:
    """What happened of one kind in one short stretch of time."""

    lane: str
    first: datetime
    last: datetime
    count: int


@dataclass(frozen=True)
class Moments:
    """Retrievals, injections and outcomes gathered into stretches of 1/120 of the time between first and last.

    Lanes are "retrieved" (and not injected, or not known to be), "injected", and the outcome of each session that was
    given the observation, at the time the session ended.
    """

    scope: Scope
    id: UUID
    shape: LogShape = COMPLETE_SHAPE
    row: ClassVar[type] = MomentRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """Ten thousand log rows become a few hundred marks in the database."""
        each, sessions = retrievals_of(self.scope, self.id, self.shape), schema.sessions
        ended = func.max(func.greatest(each.c.at, self._ended()))
        retrieved = select(literal("retrieved", Text).label("lane"), each.c.at.label("at")).where(
            or_(each.c.injected.is_(None), ~each.c.injected)
        )
        injected = select(literal("injected", Text), each.c.at).where(each.c.injected)
        judged = (
            select(sessions.c.outcome, ended)
            .select_from(each.join(sessions, _its_session(each, self.scope)))
            .where(each.c.injected, sessions.c.outcome.in_(schema.OUTCOMES))
            .group_by(sessions.c.id, sessions.c.outcome)
        )
        happened = union_all(retrieved, injected, judged).cte("happened")
        span = select(func.min(happened.c.at).label("begun"), func.max(happened.c.at).label("over")).cte("span")
        whole = func.greatest(func.extract("epoch", span.c.over - span.c.begun), 1.0)
        since = func.extract("epoch", happened.c.at - span.c.begun)
        stretch = func.floor(cast(since, Double) / cast(whole, Double) * GATHERED)
        return (
            select(happened.c.lane, func.min(happened.c.at), func.max(happened.c.at), func.count())
            .select_from(happened.join(span, literal(value=True)))
            .group_by(happened.c.lane, stretch)
            .order_by(happened.c.lane, func.min(happened.c.at))
        )

    def _ended(self) -> ColumnElement[datetime | None]:
        ended = schema.sessions.c.ended_at
        return case((and_(ended >= self.scope.since, ended < self.scope.until), ended))
