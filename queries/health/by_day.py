"""How sessions ended and how much of the log is whole, by day of the window and of the one before it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import case, func, select

from queries import schema
from queries.drawn import counted
from queries.engine import AGGREGATE
from queries.ground import Ground
from queries.scope import Reach
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from sqlalchemy import Select

    from queries.scope import Scope


@dataclass(frozen=True)
class EndedDayRow:
    """One day: sessions begun on it that have an outcome, and those accepted."""

    day: datetime
    judged: int
    accepted: int


@dataclass(frozen=True)
class EndedByDay:
    """Sessions per day (UTC) of both windows by how they ended; a day without any has no row."""

    scope: Scope
    row: ClassVar[type] = EndedDayRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """All organizations of the scope together."""
        table = schema.sessions
        both = replace(self.scope, since=self.scope.before().since)
        day = func.date_trunc("day", table.c.created_at, "UTC")
        return (
            select(day, func.count(), func.count().filter(table.c.outcome == "accepted"))
            .where(both.where(table), table.c.outcome.in_(schema.OUTCOMES))
            .group_by(day)
            .order_by(day)
        )


@dataclass(frozen=True)
class EndedOfSomeRow:
    """One day of one organization, or of all the others together: sessions with an outcome, and those accepted."""

    org_id: str | None
    day: datetime
    judged: int
    accepted: int


@dataclass(frozen=True)
class EndedOfSome:
    """Sessions per day (UTC) of the scope's own window for some organizations; ``every``: and of the others together.

    The others have no organization in their rows. A day without any session has no row.
    """

    scope: Scope
    orgs: tuple[str, ...]
    every: bool
    row: ClassVar[type] = EndedOfSomeRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """One pass over the sessions of the window."""
        table = schema.sessions
        some = Reach.of(frozenset(self.orgs)).where(table.c.org_id)
        org, day = case((some, table.c.org_id)), func.date_trunc("day", table.c.created_at, "UTC")
        judged = (self.scope.where(table), table.c.outcome.in_(schema.OUTCOMES))
        return (
            select(org, day, func.count(), func.count().filter(table.c.outcome == "accepted"))
            .where(*judged, *(() if self.every else (some,)))
            .group_by(org, day)
            .order_by(org, day)
        )


@dataclass(frozen=True)
class LoggedDayRow:
    """One day: its retrievals, and those logged whole."""

    day: datetime
    retrievals: int
    complete: int


@dataclass(frozen=True)
class LoggedByDay:
    """Retrievals per day (UTC) of both windows; of a log too long to be folded whole they are estimates."""

    scope: Scope
    shape: LogShape = COMPLETE_SHAPE
    row: ClassVar[type] = LoggedDayRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """The retrievals of both windows, folded once."""
        both = replace(self.scope, since=self.scope.before().since)
        ground = Ground(both, self.shape)
        each = ground.folded().subquery("retrieval")
        day = func.date_trunc("day", each.c.at, "UTC")
        count = partial(counted, each, ground.share)
        return select(day, count(), count(each.c.complete)).group_by(day).order_by(day)
