"""The log folded to one row per retrieval: the common ground of every figure about feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Double, and_, case, cast, func, literal, select

from queries.scores import is_finite

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, FromClause, Select, Subquery

TOP = 5
POOL = 20  # the candidates of a retrieval as it is documented; a pipeline that recalls more logs more
MASK_BITS = 62

FAULTS = ("incomplete", "repeated", "unreadable")
REASONS = (*FAULTS, "unweighted")  # why a retrieval is not comparable, in the order in which it is asked


def folded(log: Subquery, *more: ColumnElement[Any], top: int = TOP) -> Select[Any]:
    """One row per retrieval with what every figure needs; ``more`` are further aggregates over its rows."""
    names = (log.c.org_id, log.c.retrieval)
    return select(*names, *told(log, top), *more).group_by(*names)


def told(log: Subquery, top: int = TOP) -> list[ColumnElement[Any]]:
    """Of a retrieval: time, size, whether both rank columns are whole, whether feedback moved its top ``top``."""
    size = func.count()
    moved = (log.c.unweighted_rank < top) != (log.c.weighted_rank < top)
    finite = and_(*(is_finite(log.c[name]) for name in ("relevance_score", "feedback_weight", "weighted_score")))
    return [
        func.min(log.c.at).label("at"),
        size.label("candidates"),
        and_(_is_permutation(log.c.unweighted_rank, size), _is_permutation(log.c.weighted_rank, size)).label(
            "complete"
        ),
        (func.count(log.c.observation_id.distinct()) < size).label("repeated"),
        func.bool_and(log.c.weighting_enabled).label("weighted"),
        func.coalesce(func.bool_or(moved), False).label("moved"),
        func.count().filter(finite.is_not(True)).label("unusable"),
    ]


def at_limit(each: FromClause) -> ColumnElement[bool]:
    """Whether a retrieval may have lost what came after its pool; one that logged more had another limit."""
    return each.c.candidates == POOL


def sound(each: FromClause) -> ColumnElement[bool]:
    """Whether a retrieval is logged whole, every observation once and with scores that are numbers."""
    failing = _failing(each)
    return and_(*(~failing[name] for name in FAULTS))


def comparable(each: FromClause) -> ColumnElement[bool]:
    """Whether a retrieval can say what feedback did: sound, and made while weighting was on.

    With weighting off the log holds one order twice, so that nothing would seem to change.
    """
    return and_(*(~fails for fails in _failing(each).values()))


def first_failing(each: FromClause) -> dict[str, ColumnElement[bool]]:
    """Whether a retrieval is left out, by the reason: each is where it first fails, so that no two hold at once."""
    failing = _failing(each)
    return {
        name: and_(*(~failing[earlier] for earlier in REASONS[:place]), failing[name])
        for place, name in enumerate(REASONS)
    }


def reason(each: FromClause) -> ColumnElement[str | None]:
    """The name of where it first fails; null for a comparable one."""
    failing = _failing(each)
    return case(*((failing[name], name) for name in REASONS))


def _failing(each: FromClause) -> dict[str, ColumnElement[bool]]:
    """What each reason looks at by itself; none of them is ever null."""
    return {
        "incomplete": ~each.c.complete,
        "repeated": each.c.repeated,
        "unreadable": each.c.unusable > 0,
        "unweighted": each.c.weighted.is_not(True),
    }


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
