"""Which changes of flags can explain anything: those that turned what is ranked, and were not soon taken back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import case, func, select

from queries.engine import AGGREGATE
from queries.flags.series import kept_changes

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select

    from queries.scope import Scope


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
        turned = kept_changes(self.scope)
        held = func.least(turned.c.next_at, self.scope.until) - turned.c.changed_at  # least passes over a null
        told = (turned.c.id, turned.c.flag, turned.c.new, turned.c.changed_at, turned.c.next_at)
        return (
            select(func.count().over(), _shared(turned.c.flag), _shared(turned.c.org_id), *told)
            .where(turned.c.changed_at >= self.scope.since, turned.c.changed_at < self.scope.until)
            .order_by(held.desc(), turned.c.id.desc())
            .limit(self.size)
        )


def _shared(column: ColumnElement[str]) -> ColumnElement[str | None]:
    """What all rows have in common, and nothing where they differ."""
    first = func.min(column).over()
    return case((first == func.max(column).over(), first))
