"""Retrievals one by one: those that feedback changed most, or those with a candidate in one cell of the heat map."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import BigInteger, and_, case, cast, func, select

from queries import folding, schema
from queries.drawn import in_all
from queries.impact.selection import OfEach
from queries.retrievals import comparable

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, FromClause, Select, Subquery


LISTED = 100
QUERY_SHOWN = 300


@dataclass(frozen=True)
class ListedRow:
    """One comparable retrieval; ``flips`` is null where the block is not logged, or was not feedback's alone."""

    total: int
    org_id: str
    retrieval: str
    at: datetime
    query: str
    candidates: int
    shift: int
    first_moved: bool
    top_moved: bool
    flips: int | None
    agent: str | None
    work_type: str | None
    outcome: str | None


@dataclass(frozen=True)
class ListedRetrievals(OfEach):
    """The comparable retrievals with most flips and places moved; ``cell`` keeps those with a candidate at those ranks.

    ``cell`` is (unweighted, weighted), from 0 as the log counts. Of a log too long to be folded whole they are those
    drawn, and ``total`` is an estimate of how many there are in all.
    """

    cell: tuple[int, int] | None = None
    row: ClassVar[type] = ListedRow

    def measures(self, log: Subquery) -> list[ColumnElement[Any]]:
        """What the list tells of each, and whether it has a candidate in the cell."""
        shift = func.sum(func.abs(cast(log.c.unweighted_rank, BigInteger) - log.c.weighted_rank)).label("shift")
        first = func.coalesce(func.bool_or((log.c.unweighted_rank == 0) != (log.c.weighted_rank == 0)), False)
        cell = [] if self.cell is None else [_any_at(log, *self.cell).label("in_cell")]
        return [
            func.min(log.c.session_id).label("session_id"),
            func.left(func.min(log.c.query_text), QUERY_SHOWN).label("query"),
            shift,
            first.label("first_moved"),
            *folding.block_measures(log),
            *cell,
        ]

    def of(self, each: FromClause) -> Select[Any]:
        """The first hundred, each with how many there are in all."""
        flips = case((folding.has_known_block(each), folding.block_flips(each))).label("flips")
        names = ("org_id", "retrieval", "at", "query", "candidates", "shift", "first_moved", "moved")
        listed = (
            select(in_all(each, self.selection.share), *(each.c[name] for name in names), flips, each.c.session_id)
            .where(comparable(each), *([] if self.cell is None else [each.c.in_cell]))
            .order_by(flips.desc().nulls_last(), each.c.shift.desc(), each.c.at.desc(), each.c.retrieval)
            .limit(LISTED)
            .subquery("listed")
        )
        # sessions of these alone: the planner takes all for one, and has read every session for each of thousands
        sessions = schema.sessions
        shown = [column for column in listed.c if column is not listed.c.session_id]
        return (
            select(*shown, sessions.c.agent_id, sessions.c.work_type, sessions.c.outcome)
            .select_from(listed.outerjoin(sessions, schema.session_of(listed)))
            .order_by(listed.c.flips.desc().nulls_last(), listed.c.shift.desc(), listed.c.at.desc(), listed.c.retrieval)
        )


def _any_at(log: FromClause, unweighted: int, weighted: int) -> ColumnElement[bool]:
    here = and_(log.c.unweighted_rank == unweighted, log.c.weighted_rank == weighted)
    return func.coalesce(func.bool_or(here), False)
