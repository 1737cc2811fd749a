"""A share of what is too long to be read whole: some retrievals or rows, standing for those that were not drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    Double,
    Text,
    and_,
    cast,
    func,
    literal,
    literal_column,
    select,
    tablesample,
    text,
)

from queries import schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, FromClause, Subquery, Table

    from queries.scope import Scope

WHOLE = 1.0
FOLDED = 500_000  # log rows that every organization's figures are counted from within a third of their limit
PAGED = 300_000  # rows on the pages that are read of a longer log
KEPT = 4_500  # of the retrievals found there, read whole: shares of all together are good to about two points
COUNTED = 200_000  # observations, or injections, of all organizations that are counted one by one
ROWS = 30_000  # of more: some seconds less for a question, and shares of all together are good to about two points
SEED = 7  # the same pages and retrievals for every question, so that their answers agree

SMALLEST = 0.0001  # of the pages: fewer would be none of them
MOST_ON_A_PAGE = 100
CHANCES = 2**20  # steps of the share of retrievals that are kept

# The planner's estimates, which costs nothing; none for a log that was never analysed. Only what keeps its rows itself
# has pages to draw, and only where every row names its retrieval can that be read whole.
LENGTH = text(
    """select greatest(c.reltuples, 0)::bigint
         from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'retrieval_id' and a.attnotnull
        where c.oid = to_regclass('public.retrieval_ab_logs') and c.relkind in ('r', 'p', 'm')"""
)

# A view or a foreign table has no pages either.
LENGTHS = text(
    """select c.relname, greatest(c.reltuples, 0)::bigint, greatest(c.relpages, 0) from pg_class c
        where c.oid in (to_regclass('public.observations'), to_regclass('public.context_injection_logs'))
          and c.relkind in ('r', 'p', 'm')"""
)


def log_length(connection: Connection) -> int:
    """About how many rows a log has that can be drawn from, else none."""
    return int(connection.execute(LENGTH).scalar() or 0)


def share_of(length: int) -> float:
    """The share of the pages of a log of so many rows that figures of all organizations are drawn from."""
    return WHOLE if length <= FOLDED else max(round(PAGED / length, 4), SMALLEST)


def lengths(connection: Connection) -> dict[str, tuple[int, int]]:
    """About how many observations and injections there are, of what can be drawn from, and on how many pages."""
    found = {name: (int(length), int(pages)) for name, length, pages in connection.execute(LENGTHS)}
    # a table in parts knows the rows of all of them, and no pages
    return {name: (length, max(pages, length // MOST_ON_A_PAGE)) for name, (length, pages) in found.items()}


def share_of_rows(length: int) -> float:
    """The share of the pages of a table of so many rows that are looked at one by one."""
    return WHOLE if length <= COUNTED else max(round(ROWS / length, 4), SMALLEST)


def some(table: Table, share: float) -> FromClause:
    """A table, or the rows on some of its pages; the same pages for every question."""
    return table if share >= WHOLE else tablesample(table, func.system(100 * share), "some", seed=literal(SEED))


def scaled(number: ColumnElement[Any], share: float) -> ColumnElement[int]:
    """A count of rows, or how many those that were drawn stand for."""
    return cast(number if share >= WHOLE else func.round(cast(number, Double) / share), BigInteger)


def retrievals_drawn(scope: Scope, share: float, since: datetime | None = None) -> Subquery:
    """Some of a scope's retrievals with a row on the pages drawn: how many rows on which page, and their share.

    Pages are drawn and not rows: reading one row costs its whole page. Where a window has more retrievals on them than
    are worth reading, an even share of them is kept, chosen by their ids. With ``since`` as many are kept from there
    on, before the scope begins: so that it draws the same as a scope that begins there.
    """
    pages = tablesample(schema.retrieval_ab_logs, func.system(100 * share), "pages", seed=literal(SEED))
    found = (
        select(
            pages.c.org_id,
            pages.c.retrieval_id,
            func.count().label("seen"),
            func.max(pages.c.created_at).label("at"),
            func.min(literal_column("pages.ctid")).label("place"),
        )
        .where((scope if since is None else replace(scope, since=since)).where(pages))
        .group_by(pages.c.org_id, pages.c.retrieval_id)
        .subquery("found")
    )
    kept = func.least(1.0, KEPT / cast(func.count().over(), Double), type_=Double)
    page = cast(func.ltrim(func.split_part(cast(found.c.place, Text), ",", 1), "("), BigInteger)
    counted = select(
        found.c.org_id, found.c.retrieval_id, found.c.seen, found.c.at, kept.label("kept"), page.label("page")
    ).subquery("counted")
    chance = func.hashtextextended(cast(counted.c.retrieval_id, Text), SEED, type_=BigInteger).bitwise_and(CHANCES - 1)
    inside = counted.c.at >= scope.since
    return select(*counted.c).where(inside, chance < counted.c.kept * CHANCES).subquery("drawn")


def rows_of(drawn: Subquery) -> ColumnElement[bool]:
    """The log rows of one retrieval drawn, which an index finds."""
    logs = schema.retrieval_ab_logs
    return and_(logs.c.org_id == drawn.c.org_id, logs.c.retrieval_id == drawn.c.retrieval_id)


def whole_retrievals(drawn: Subquery, columns: Sequence[str]) -> FromClause:
    """All rows of each retrieval drawn, looked up one retrieval at a time; of them the columns that this log has.

    Left to itself the planner takes them for far more than they are and reads the whole log; it does not look
    behind an offset.
    """
    logs = schema.retrieval_ab_logs
    return select(*(logs.c[name] for name in columns)).where(rows_of(drawn)).offset(0).lateral("whole")


def stands_for(drawn: Subquery, candidates: ColumnElement[int], share: float) -> ColumnElement[Any]:
    """How many retrievals a drawn one of so many rows stands for: the part of it that was seen over the share read.

    The longer a retrieval the likelier it is drawn, and the less it then stands for: the sums are true on average.
    """
    part = cast(drawn.c.seen, Double) / candidates
    return (part / share / drawn.c.kept).label("stands_for")


def drawn(each: FromClause, share: float, only: ColumnElement[bool] | None = None) -> ColumnElement[int]:
    """How many retrievals figures rest on: of those drawn, as many as would be as good if drawn one by one.

    Neighbours on a page may be alike, so pages are counted; and where some stand for more than others, by Kish's
    ``(Σw)² / Σw²`` as many fewer.
    """

    def limited(number: Any) -> Any:  # noqa: ANN401 - an aggregate
        return number if only is None else number.filter(only)

    if share >= WHOLE:
        return cast(limited(func.count()), BigInteger)
    weight = each.c.stands_for
    squares = limited(func.count()) * limited(func.sum(weight * weight))
    even = func.power(limited(func.sum(weight)), 2) / func.nullif(squares, 0.0)
    pages = limited(func.count(each.c.page.distinct()))
    return cast(func.coalesce(func.round(cast(pages * even, Double)), 0), BigInteger)


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


def in_all(each: FromClause, share: float) -> ColumnElement[int]:
    """How many retrievals there are beside each of a list: counted, or estimated from those drawn."""
    number = func.count().over() if share >= WHOLE else func.round(func.sum(each.c.stands_for).over())
    return cast(number, BigInteger)


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
