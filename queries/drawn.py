"""A share of a log too long to be folded whole: some retrievals, each standing for those that were not drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Double, Text, and_, cast, func, literal, select, tablesample, text

from queries import schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, FromClause, Subquery

    from queries.scope import Scope

WHOLE = 1.0
FOLDED = 1_000_000  # log rows that every organization's figures are counted from within their limit
PAGED = 300_000  # rows on the pages that are read of a longer log
KEPT = 5_000  # of the window's retrievals found there, read whole: shares of all together are good to about two points
SEED = 7  # the same pages and retrievals for every question, so that their answers agree

SMALLEST = 0.0001  # of the pages: fewer would be none of them
CHANCES = 2**20  # steps of the share of retrievals that are kept

# The planner's estimate, which costs nothing; none for a log that was never analysed. Only what keeps its rows itself
# has pages to draw, and only where every row names its retrieval can that be read whole.
LENGTH = text(
    """select greatest(c.reltuples, 0)::bigint
         from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'retrieval_id' and a.attnotnull
        where c.oid = to_regclass('public.retrieval_ab_logs') and c.relkind in ('r', 'p', 'm')"""
)


def log_length(connection: Connection) -> int:
    """About how many rows a log has that can be drawn from, else none."""
    return int(connection.execute(LENGTH).scalar() or 0)


def share_of(length: int) -> float:
    """The share of the pages of a log of so many rows that figures of all organizations are drawn from."""
    return WHOLE if length <= FOLDED else max(round(PAGED / length, 4), SMALLEST)


def retrievals_drawn(scope: Scope, share: float, since: datetime | None = None) -> Subquery:
    """Some of a scope's retrievals with a row on the pages drawn, how many of their rows stand there, and their share.

    Pages are drawn and not rows: reading one row costs its whole page. Where a window has more retrievals on them than
    are worth reading, an even share of them is kept, chosen by their ids. ``since`` is where the window begins that is
    to have that many, if the scope begins before it.
    """
    pages = tablesample(schema.retrieval_ab_logs, func.system(100 * share), "pages", seed=literal(SEED))
    found = (
        select(
            pages.c.org_id,
            pages.c.retrieval_id,
            func.count().label("seen"),
            func.max(pages.c.created_at).label("at"),
        )
        .where(scope.where(pages))
        .group_by(pages.c.org_id, pages.c.retrieval_id)
        .subquery("found")
    )
    inside = func.count().filter(found.c.at >= (since or scope.since)).over()
    kept = func.least(1.0, KEPT / func.nullif(cast(inside, Double), 0.0), type_=Double)
    counted = select(found.c.org_id, found.c.retrieval_id, found.c.seen, kept.label("kept")).subquery("counted")
    chance = func.hashtextextended(cast(counted.c.retrieval_id, Text), SEED, type_=BigInteger).bitwise_and(CHANCES - 1)
    return select(*counted.c).where(chance < counted.c.kept * CHANCES).subquery("drawn")


def whole_retrievals(drawn: Subquery, columns: Sequence[str]) -> FromClause:
    """All rows of each retrieval drawn, looked up one retrieval at a time; of them the columns that this log has.

    Left to itself the planner takes them for far more than they are and reads the whole log; it does not look
    behind an offset.
    """
    logs = schema.retrieval_ab_logs
    its = and_(logs.c.org_id == drawn.c.org_id, logs.c.retrieval_id == drawn.c.retrieval_id)
    return select(*(logs.c[name] for name in columns)).where(its).offset(0).lateral("whole")


def stands_for(log: FromClause, share: float) -> list[ColumnElement[Any]]:
    """The part of a drawn retrieval that was seen, and how many it stands for: that part over the share that was read.

    The longer a retrieval the likelier it is drawn, and the less it then stands for: the sums are true on average.
    """
    if share >= WHOLE:
        return []
    part = cast(func.max(log.c.seen), Double) / func.count()
    return [part.label("part"), (part / share / func.max(log.c.kept)).label("stands_for")]


def drawn(each: FromClause, share: float) -> ColumnElement[int]:
    """How many whole retrievals the parts that were seen make: what the figures can be no better than."""
    number: ColumnElement[Any] = func.count() if share >= WHOLE else func.greatest(func.round(func.sum(each.c.part)), 1)
    return cast(number, BigInteger)


def newest_logged(scope: Scope) -> ColumnElement[datetime | None]:
    """When each of the organizations last logged a row in the window: what is drawn need not hold it; an index does."""
    logs, orgs = schema.retrieval_ab_logs, schema.organizations
    latest = select(func.max(logs.c.created_at)).where(logs.c.org_id == orgs.c.id, scope.where(logs))
    return latest.correlate(orgs).scalar_subquery()


def counted(
    each: FromClause, share: float, only: ColumnElement[bool] | None = None, of: ColumnElement[Any] | None = None
) -> ColumnElement[Any]:
    """How many retrievals there are, or the sum of a whole number over them: counted, or estimated from those drawn."""
    if share >= WHOLE:
        total: Any = func.count() if of is None else func.sum(of)
        return cast(total if only is None else total.filter(only), BigInteger)
    number = func.round(_weighed(each, only))
    total = number if of is None else func.round(averaged(each, share, only, of) * number)
    return cast(func.coalesce(total, 0), BigInteger)


def averaged(
    each: FromClause, share: float, only: ColumnElement[bool] | None, of: ColumnElement[Any]
) -> ColumnElement[Any]:
    """The mean over retrievals, of all or as those drawn stand for them."""
    if share >= WHOLE:
        mean: Any = func.avg(of)
        return cast(mean if only is None else mean.filter(only), Double)
    return _weighed(each, only, of) / func.nullif(_weighed(each, only), 0.0)


def summed(each: FromClause, share: float, only: ColumnElement[bool], of: ColumnElement[Any]) -> ColumnElement[Any]:
    """The sum over retrievals: of those drawn, their mean for as many as there are said to be, which keeps the mean."""
    if share >= WHOLE:
        return func.coalesce(cast(func.sum(of).filter(only), Double), 0.0)
    return func.coalesce(averaged(each, share, only, of) * counted(each, share, only), 0.0)


def _weighed(
    each: FromClause, only: ColumnElement[bool] | None, of: ColumnElement[Any] | None = None
) -> ColumnElement[Any]:
    total: Any = func.sum(each.c.stands_for if of is None else each.c.stands_for * of)
    return cast(total if only is None else total.filter(only), Double)
