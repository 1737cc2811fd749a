"""Measures of one retrieval as aggregates over its rows: how far the two orders agree, and who was in the block."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Double, Integer, and_, case, cast, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY, BIT
from sqlalchemy.sql.elements import Grouping

from queries.retrievals import MASK_BITS

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, FromClause, Subquery

PERSISTENCE = 0.9  # as ranking.comparison has it
DEPTH = 400  # 0.9^400 is 5e-19: what lies deeper changes no digit
POWERS = [PERSISTENCE**depth for depth in range(DEPTH + 1)]
# the sum of p^d / d over the depths 1 to n, by n
TAILS = list(accumulate((power / depth for depth, power in enumerate(POWERS) if depth), initial=0.0))
LARGEST_BOOST = 1e6  # what is larger, or no number, is no boost and could overflow the sum
SMALLEST_SPREAD = 1e-18  # a variance of logarithms below it is the rounding of equal numbers


def by_size(values: list[float], size: ColumnElement[Any]) -> ColumnElement[float]:
    """The value at a place of a list, the last one for every place beyond it."""
    place = cast(func.greatest(func.least(size, DEPTH), 0), BigInteger) + 1
    listed: Grouping[Any] = Grouping(literal(values, ARRAY(Double)))
    found: ColumnElement[float] = listed[place]
    return found


def with_inversions(log: Subquery) -> Subquery:
    """The log with, per row, how many rows stand before it without weights and after it with them.

    A bit per weighted rank seen so far says it without comparing every pair; it holds for up to 62 candidates.
    """
    seen = func.bit_or(_bit(log.c.weighted_rank)).over(
        partition_by=(log.c.org_id, log.c.retrieval), order_by=log.c.unweighted_rank, rows=(None, -1)
    )
    after = seen.bitwise_rshift(_place(log.c.weighted_rank) + 1)
    overtaken = func.coalesce(func.bit_count(cast(after, BIT(64))), 0)
    return select(*log.c, overtaken.label("overtaken")).subquery("inverted")


def order_measures(log: FromClause) -> list[ColumnElement[Any]]:
    """How far the two orders differ: the first changed, places moved, meeting depths and inversions."""
    before, after = cast(log.c.unweighted_rank, BigInteger), cast(log.c.weighted_rank, BigInteger)
    first = (log.c.unweighted_rank == 0) != (log.c.weighted_rank == 0)
    return [
        func.coalesce(func.bool_or(first), False).label("first_moved"),
        func.sum(func.abs(before - after)).label("shift"),
        func.sum(before - after).label("surplus"),
        meetings(log),
        func.sum(log.c.overtaken).label("discordant"),
    ]


def meetings(log: FromClause) -> ColumnElement[Any]:
    """What ``rank_biased_overlap`` needs: per row, the depth at which both orders have met it."""
    deeper = func.greatest(cast(log.c.unweighted_rank, BigInteger), cast(log.c.weighted_rank, BigInteger))
    return func.sum(by_size(TAILS, deeper)).label("meetings")


def block_measures(log: FromClause) -> list[ColumnElement[Any]]:
    """Who was in the block, by a bit per rank and by the ranks too deep for one, and the deepest in either order."""
    deep = and_(log.c.injected, log.c.unweighted_rank >= MASK_BITS)
    return [
        func.count().filter(log.c.injected).label("block"),
        (func.count(log.c.injected) == func.count()).label("block_logged"),
        func.max(log.c.unweighted_rank).filter(log.c.injected).label("deepest_unweighted"),
        func.max(log.c.weighted_rank).filter(log.c.injected).label("deepest_weighted"),
        func.coalesce(func.bit_or(_bit(log.c.unweighted_rank)).filter(log.c.injected), 0).label("block_mask"),
        func.array_agg(log.c.unweighted_rank, type_=ARRAY(Integer)).filter(deep).label("block_deep"),
    ]


def spread_measures(log: FromClause) -> list[ColumnElement[Any]]:
    """The variance of ln weight and of ln score before it: their share is the weight's part in a product's spread."""
    boost = log.c.corroboration_boost
    base = log.c.relevance_score + case((func.abs(boost) <= LARGEST_BOOST, boost), else_=0.0)
    usable = and_(base > 0, log.c.feedback_weight > 0)
    return [
        func.var_pop(case((usable, func.ln(log.c.feedback_weight))), type_=Double).label("weight_spread"),
        func.var_pop(case((usable, func.ln(base))), type_=Double).label("score_spread"),
    ]


def rank_biased_overlap(each: FromClause) -> ColumnElement[float]:
    """Agreement of the two whole orders of one retrieval, as ``ranking.comparison`` defines it, p 0.9."""
    size = cast(each.c.candidates, Double)
    summed = size * by_size(TAILS, each.c.candidates) - each.c.meetings
    return by_size(POWERS, each.c.candidates) + (1 - PERSISTENCE) / PERSISTENCE * summed


def kendall_tau_b(each: FromClause) -> ColumnElement[float | None]:
    """``1 - 4·discordant / (n·(n-1))``: ranks are never tied, so that τ-b is τ; null for one row or more than 62."""
    size = cast(each.c.candidates, Double)
    known = and_(each.c.candidates > 1, each.c.candidates <= MASK_BITS)
    return case((known, 1 - 4 * cast(each.c.discordant, Double) / (size * (size - 1))))


def weight_dominance(each: FromClause) -> ColumnElement[float | None]:
    """``var(ln w) / (var(ln w) + var(ln score))`` of one retrieval; null where neither varies."""
    total = each.c.weight_spread + each.c.score_spread
    return case((total > SMALLEST_SPREAD, each.c.weight_spread / total))


def has_known_block(each: FromClause) -> ColumnElement[bool]:
    """Whether the block is logged and is the head of the weighted order, so that only feedback can have changed it."""
    head = func.coalesce(each.c.deepest_weighted, -1) == each.c.block - 1
    return and_(each.c.block_logged, head)


def block_changed(each: FromClause) -> ColumnElement[bool]:
    """Whether the first m without weights are others than the m in the block."""
    return func.coalesce(each.c.deepest_unweighted, -1) >= each.c.block


def block_flips(each: FromClause) -> ColumnElement[int]:
    """How many entered or left the block through weights: as many were kept out of it as came in."""
    places = cast(func.least(each.c.block, MASK_BITS), BigInteger).cast(each.c.deepest_weighted.type)
    shallow = each.c.block_mask.bitwise_and(literal((1 << MASK_BITS) - 1, BigInteger))
    entered = func.bit_count(cast(shallow.bitwise_rshift(places), BIT(64)))
    rank = func.unnest(each.c.block_deep).column_valued("rank")
    entered_from_deep = select(func.count(rank)).where(rank >= each.c.block).correlate(each).scalar_subquery()
    return 2 * (entered + case((each.c.block_deep.is_not(None), entered_from_deep), else_=0))


def _place(rank: ColumnElement[int]) -> ColumnElement[int]:
    return func.greatest(func.least(rank, MASK_BITS), 0)


def _bit(rank: ColumnElement[int]) -> ColumnElement[int]:
    return literal(1, BigInteger).bitwise_lshift(_place(rank))
