"""Which changes of flags can explain anything: those that turned what is ranked, and were not soon taken back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta  # frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import Interval, and_, case, func, literal, select

from queries import own_schema
from queries.engine import AGGREGATE
from queries.flags.entries import is_on, spoken

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select, Subquery

    from queries.scope import Scope

audit = own_schema.flag_changes
BRIEF = timedelta(days=1)  # a change that was taken back sooner was tried, or made by mistake: both explain nothing


@dataclass(frozen=True)
class FlagsTurnedRow:
    """A change of a window and until when it held; how many the window has, and the flag and organization of all."""

    changes: int
    every_flag: str | None
    every_org: str | None
    id: int
    flag: str
    new: str
    changed_at: datetime
    next_at: datetime | None


@dataclass(frozen=True)
class FlagsTurned:
    """The changes of the scope's window that held longest in it, and how many there were; no row where none was."""

    scope: Scope
    size: int
    row: ClassVar[type] = FlagsTurnedRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """Counted before they are taken, so that no length of a list cuts the number."""
        kept = _kept(self.scope)
        next_at = func.lead(kept.c.changed_at).over(
            partition_by=(kept.c.org_id, kept.c.flag), order_by=(kept.c.changed_at, kept.c.id)
        )
        turned = select(*kept.c, next_at.label("next_at")).subquery("turned")
        held = func.least(turned.c.next_at, self.scope.until) - turned.c.changed_at  # least passes over a null
        told = (turned.c.id, turned.c.flag, turned.c.new, turned.c.changed_at, turned.c.next_at)
        return (
            select(func.count().over(), _shared(turned.c.flag), _shared(turned.c.org_id), *told)
            .where(turned.c.changed_at >= self.scope.since, turned.c.changed_at < self.scope.until)
            .order_by(held.desc(), turned.c.id.desc())
            .limit(self.size)
        )


def _kept(scope: Scope) -> Subquery:
    """The changes that were not soon taken back.

    In a series in which each is taken back by the next within ``BRIEF``, every two cancel out: of an odd number the
    last is kept, of an even one none. Read from the first change on, for a series may begin before the window.
    """
    old, new = is_on(audit.c.old_state), is_on(audit.c.new_state)
    effective = (
        select(
            audit.c.org_id, audit.c.id, audit.c.flag, spoken(audit.c.new_state).label("new"), audit.c.changed_at,
            case((func.coalesce(_takes_back(old, new), False), 0), else_=1).label("begins"),
        )
        .where(scope.organizations(audit.c.org_id), old != new)
        .subquery("effective")
    )  # fmt: skip
    of_a_flag = (effective.c.org_id, effective.c.flag)
    series = func.sum(effective.c.begins).over(
        partition_by=of_a_flag, order_by=(effective.c.changed_at, effective.c.id)
    )
    grouped = select(*effective.c, series.label("series")).subquery("grouped")
    of_a_series = (grouped.c.org_id, grouped.c.flag, grouped.c.series)
    place = func.row_number().over(partition_by=of_a_series, order_by=(grouped.c.changed_at, grouped.c.id))
    size = func.count().over(partition_by=of_a_series)
    placed = select(*grouped.c, place.label("place"), size.label("size")).subquery("placed")
    return select(placed).where(placed.c.place == placed.c.size, placed.c.size % 2 == 1).subquery("kept")


def _takes_back(old: ColumnElement[bool], new: ColumnElement[bool]) -> ColumnElement[bool]:
    """Whether a change undoes the one before it; what was set outside in between is no change that it undoes."""
    soon = audit.c.changed_at - _before(audit.c.changed_at) < literal(BRIEF, Interval)
    return and_(soon, _before(new) == old)


def _before(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """What the change before it, of the same flag and organization, has there."""
    return func.lag(column).over(partition_by=(audit.c.org_id, audit.c.flag), order_by=(audit.c.changed_at, audit.c.id))


def _shared(column: ColumnElement[str]) -> ColumnElement[str | None]:
    """What all rows have in common, and nothing where they differ."""
    first = func.min(column).over()
    return case((first == func.max(column).over(), first))
