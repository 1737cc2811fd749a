"""Every figure of the page by day, over the window and the one before, as counts and sums that add up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import Double, and_, cast, func, select

from queries import folding
from queries.drawn import counted, drawn, summed
from queries.impact.selection import Selected
from queries.retrievals import at_limit, comparable, first_failing, sound

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select, Subquery


@dataclass(frozen=True)
class MeasuresRow:
    """One day: what is left out and why, then sums over comparable retrievals; a share or mean is a sum over a count.

    ``retrievals = incomplete + repeated + unreadable + unweighted + comparable``: each is counted where it first fails.
    Of a log too long to be folded whole all are estimates, rounded one by one; ``drawn`` is how many of the comparable
    they rest on.
    """

    day: datetime
    newest: datetime
    log_rows: int
    retrievals: int
    drawn: int
    complete: int
    truncated: int
    incomplete: int
    repeated: int
    unreadable: int
    unusable_rows: int
    unbalanced: int
    unweighted: int
    comparable: int
    top_one: int
    top_k: int
    candidates: int
    shift: int
    overlap: float
    tau: float
    tau_known: int
    dominance: float
    dominance_known: int
    block_rows: int
    injected: int
    block_known: int
    block_reordered: int
    block_changed: int
    flips: int


@dataclass(frozen=True)
class Measures(Selected):
    """The measures per day (UTC) of the window and of the one before it; a day without retrievals has no row."""

    row: ClassVar[type] = MeasuresRow

    def statement(self) -> Select[Any]:
        """The retrievals of both windows, folded once and summed by day."""
        chosen, share = self.selection, self.selection.share
        parts = (folding.order_measures, folding.block_measures, folding.spread_measures)

        def measures(log: Subquery) -> list[ColumnElement[Any]]:
            return [measure for part in parts for measure in part(log)]

        both = chosen.folded(measures, with_before=True, rows=folding.with_inversions)
        each = both.subquery("retrieval")
        day = func.date_trunc("day", each.c.at, "UTC")
        tau, dominance = folding.kendall_tau_b(each), folding.weight_dominance(each)
        whole, able, left_out = sound(each), comparable(each), first_failing(each)
        logged, known = and_(whole, each.c.block_logged), and_(able, folding.has_known_block(each))
        count = partial(counted, each, share)

        def total(value: ColumnElement[Any], condition: ColumnElement[bool]) -> ColumnElement[Any]:
            return func.coalesce(count(condition, value), 0)

        def mean_sum(value: ColumnElement[Any]) -> ColumnElement[Any]:
            return summed(each, share, and_(able, value.is_not(None)), value)

        return (
            select(
                day,
                func.max(each.c.at),
                count(of=each.c.candidates),
                count(),
                drawn(each, share, able),
                count(each.c.complete),
                count(at_limit(each)),
                count(left_out["incomplete"]),
                count(left_out["repeated"]),
                count(left_out["unreadable"]),
                count(of=each.c.unusable),
                count(func.coalesce(each.c.surplus, 0) != 0),
                count(left_out["unweighted"]),
                count(able),
                count(and_(able, each.c.first_moved)),
                count(and_(able, each.c.moved)),
                total(each.c.candidates, able),
                total(each.c.shift, able),
                mean_sum(folding.rank_biased_overlap(each)),
                mean_sum(tau),
                count(and_(able, tau.is_not(None))),
                mean_sum(dominance),
                count(and_(able, dominance.is_not(None))),
                total(each.c.candidates, logged),
                total(each.c.block, logged),
                count(known),
                count(and_(able, each.c.block_logged, ~folding.has_known_block(each))),
                count(and_(known, folding.block_changed(each))),
                cast(total(folding.block_flips(each), known), Double),
            )
            .group_by(day)
            .order_by(day)
        )
