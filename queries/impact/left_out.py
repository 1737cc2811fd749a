"""Retrievals one by one that are not comparable, each with the reason where it first fails and what shows it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import case, func, select

from queries import schema
from queries.drawn import in_all
from queries.impact.listed import LISTED, QUERY_SHOWN
from queries.impact.opened import MOST_CANDIDATES
from queries.impact.selection import OfEach
from queries.organizations import shown_name
from queries.retrievals import REASONS, comparable, first_failing, reason, sound

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, FromClause, Select, Subquery

RANKS = ("unweighted_rank", "weighted_rank")


@dataclass(frozen=True)
class LeftOutRow:
    """One retrieval that no figure about feedback counts; ``reason`` is one of ``REASONS``.

    ``without`` and ``with_feedback`` are lists of its logged ranks from 0 in no order, null where it has more than
    ``MOST_CANDIDATES`` rows; ``surplus`` are rows of an observation that another of its rows has.
    """

    total: int
    org_id: str
    organization: str
    retrieval: str
    at: datetime
    query: str
    reason: str
    log_rows: int
    surplus: int
    unusable: int
    without: object
    with_feedback: object
    agent: str | None
    session_id: str


@dataclass(frozen=True)
class LeftOut(OfEach):
    """The newest retrievals that are not comparable, faults before those made while weighting was off.

    ``only`` keeps one reason. Of a log too long to be folded whole they are those drawn, and ``total`` is an estimate.
    """

    only: str | None = None
    row: ClassVar[type] = LeftOutRow

    def __post_init__(self) -> None:
        if self.only is not None and self.only not in REASONS:
            raise ValueError(f"expected one of {', '.join(REASONS)}, found {self.only!r}")

    def measures(self, log: Subquery) -> list[ColumnElement[Any]]:
        """Where it stands, and its ranks as far as they can be shown."""
        size = func.count()
        return [
            func.min(log.c.session_id).label("session_id"),
            func.left(func.min(log.c.query_text), QUERY_SHOWN).label("query"),
            (size - func.count(log.c.observation_id.distinct())).label("surplus_rows"),
            *(case((size <= MOST_CANDIDATES, func.array_agg(log.c[name]))).label(f"shown_{name}") for name in RANKS),
        ]

    def of(self, each: FromClause) -> Select[Any]:
        """The first hundred, each with how many there are in all."""
        names = ("org_id", "retrieval", "at", "query", "candidates", "surplus_rows", "unusable", "session_id")
        listed = (
            select(
                in_all(each, self.selection.share).label("total"),
                sound(each).label("sound"),
                reason(each).label("reason"),
                *(each.c[name] for name in names),
                *(each.c[f"shown_{name}"].label(name) for name in RANKS),
            )
            .where(~comparable(each) if self.only is None else first_failing(each)[self.only])
            .order_by(sound(each), each.c.at.desc(), each.c.retrieval, each.c.org_id)
            .limit(LISTED)
            .subquery("listed")
        )
        sessions, orgs = schema.sessions, schema.organizations
        # of these alone, as ListedRetrievals has it
        source = listed.outerjoin(sessions, schema.session_of(listed)).outerjoin(orgs, orgs.c.id == listed.c.org_id)
        return (
            select(
                listed.c.total,
                listed.c.org_id,
                func.coalesce(shown_name(orgs), listed.c.org_id),
                listed.c.retrieval,
                listed.c.at,
                listed.c.query,
                listed.c.reason,
                listed.c.candidates,
                listed.c.surplus_rows,
                listed.c.unusable,
                listed.c.unweighted_rank,
                listed.c.weighted_rank,
                sessions.c.agent_id,
                listed.c.session_id,
            )
            .select_from(source)
            .order_by(listed.c.sound, listed.c.at.desc(), listed.c.retrieval, listed.c.org_id)
        )
