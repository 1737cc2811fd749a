"""Which changes of a flag count: a change that was taken back within a day is as if it had never been made."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Interval, and_, case, func, literal, select

from queries import own_schema
from queries.flags.entries import is_on, spoken

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Subquery

    from queries.scope import Scope

audit = own_schema.flag_changes
BRIEF = timedelta(days=1)  # a change that was taken back sooner was tried, or made by mistake: both explain nothing


def kept_changes(scope: Scope) -> Subquery:
    """The changes that were not soon taken back, of those that turned what is ranked: how it ``was`` and ``is``.

    Each holds until the ``next_at`` of them, or until an entry found the flag turned outside.
    """
    old, new = is_on(audit.c.old_state), is_on(audit.c.new_state)
    told = (audit.c.org_id, audit.c.id, audit.c.flag, spoken(audit.c.new_state).label("new"), audit.c.changed_at)
    every = select(*told, old.label("was"), new.label("is")).where(scope.organizations(audit.c.org_id))
    last = series(_found_outside(every.subquery("every")))
    following = func.lead(last.c.changed_at).over(partition_by=_flag(last), order_by=_in_order(last))
    next_at = func.least(following, last.c.outside_at).label("next_at")  # least passes over a null
    return select(last, next_at).where(last.c.size % 2 == 1).subquery("kept")


def _found_outside(every: Subquery) -> Subquery:
    """Entries, and when the first after each found the flag otherwise than the one before it had left it."""
    left = func.lag(every.c["is"]).over(partition_by=_flag(every), order_by=_in_order(every))
    entries = select(every, case((left != every.c["was"], every.c.changed_at)).label("found_at")).subquery("found")
    # from the last on: a frame whose beginning moves is read anew for every row
    backwards = [column.desc() for column in _in_order(entries)]
    outside_at = func.min(entries.c.found_at).over(partition_by=_flag(entries), order_by=backwards, rows=(None, -1))
    return select(entries, outside_at.label("outside_at")).subquery("entries")


def series(entries: Subquery) -> Subquery:
    """The last change of each series, with its ``number`` and its ``size``; the change is kept where the size is odd.

    In a series each change is taken back by the next within ``BRIEF``, so that every two cancel out. ``entries`` say of
    each whether what is looked at ``was`` so and whether it ``is`` so from then on; a change of neither has no effect.
    Read from the first change on, for a series may begin before any window.
    """
    effective = (
        select(*entries.c, case((func.coalesce(_takes_back(entries), False), 0), else_=1).label("begins"))
        .where(entries.c["was"] != entries.c["is"])
        .subquery("effective")
    )
    number = func.sum(effective.c.begins).over(partition_by=_flag(effective), order_by=_in_order(effective))
    told = (column for column in effective.c if column.key != "begins")
    grouped = select(*told, number.label("number")).subquery("grouped")
    of_a_series = (*_flag(grouped), grouped.c.number)
    place = func.row_number().over(partition_by=of_a_series, order_by=_in_order(grouped))
    size = func.count().over(partition_by=of_a_series)
    placed = select(*grouped.c, place.label("place"), size.label("size")).subquery("placed")
    return select(placed).where(placed.c.place == placed.c.size).subquery("series")


def _takes_back(entries: Subquery) -> ColumnElement[bool]:
    """Whether a change undoes the one before it; what was set outside in between is no change that it undoes."""

    def before(column: ColumnElement[Any]) -> ColumnElement[Any]:
        return func.lag(column).over(partition_by=_flag(entries), order_by=_in_order(entries))

    soon = entries.c.changed_at - before(entries.c.changed_at) < literal(BRIEF, Interval)
    return and_(soon, before(entries.c["is"]) == entries.c["was"])


def _flag(of: Subquery) -> tuple[ColumnElement[Any], ...]:
    return (of.c.org_id, of.c.flag)


def _in_order(of: Subquery) -> tuple[ColumnElement[Any], ...]:
    return (of.c.changed_at, of.c.id)
