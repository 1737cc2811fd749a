"""The log folded to one row per retrieval: the common ground of every figure about feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Double, and_, case, cast, func, literal, select

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Subquery

    from queries.scope import Scope
    from queries.shape import LogShape

TOP = 5
POOL = 20  # a retrieval logs at most this many candidates; one that logged this many may have lost the rest
MASK_BITS = 62


def retrievals(scope: Scope, shape: LogShape) -> Subquery:
    """One row per retrieval: time, size, whether both rank columns are whole, and whether feedback moved its top 5."""
    log = shape.rows(scope)
    size = func.count()
    moved = (log.c.unweighted_rank < TOP) != (log.c.weighted_rank < TOP)
    finite = and_(*(_is_finite(log.c[name]) for name in ("relevance_score", "feedback_weight", "weighted_score")))
    return (
        select(
            log.c.org_id,
            log.c.retrieval,
            func.min(log.c.at).label("at"),
            size.label("candidates"),
            and_(_is_permutation(log.c.unweighted_rank, size), _is_permutation(log.c.weighted_rank, size)).label(
                "complete"
            ),
            (func.count(log.c.observation_id.distinct()) < size).label("repeated"),
            func.bool_and(log.c.weighting_enabled).label("weighted"),
            func.coalesce(func.bool_or(moved), False).label("moved"),
            func.count().filter(finite.is_not(True)).label("unusable"),
        )
        .group_by(log.c.org_id, log.c.retrieval)
        .subquery("retrieval")
    )


def _is_permutation(rank: ColumnElement[int], size: ColumnElement[int]) -> ColumnElement[bool]:
    """Whether the ranks of a group are exactly 0 to n - 1.

    A bit mask says it exactly for up to 62 candidates without sorting each group; for more, the sums
    of the ranks and of their squares stand in.
    """
    bit = literal(1, BigInteger).bitwise_lshift(func.greatest(func.least(rank, MASK_BITS), 0))
    full = literal(1, BigInteger).bitwise_lshift(cast(func.least(size, MASK_BITS), BigInteger).cast(rank.type)) - 1
    squares = func.sum(cast(rank, Double) * cast(rank, Double))
    count = cast(size, Double)
    return and_(
        func.count(rank) == size,
        func.min(rank) == 0,
        func.max(rank) == size - 1,
        case(
            (size <= MASK_BITS, func.bit_or(bit) == full),
            else_=and_(
                func.sum(cast(rank, Double)) * 2 == count * (count - 1),
                squares * 6 == count * (count - 1) * (2 * count - 1),
            ),
        ),
    )


def _is_finite(score: ColumnElement[float]) -> ColumnElement[bool]:
    """True for a number, null for a missing one; in Postgres NaN equals itself and sorts above infinity."""
    return and_(score > literal(float("-inf"), Double), score < literal(float("inf"), Double))
