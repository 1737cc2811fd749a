"""Which change holds a flag on: the last that left it so, held in a window and was not soon taken back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import func, or_, select

from queries.engine import LIST
from queries.flags.series import kept_changes

if TYPE_CHECKING:
    from sqlalchemy import Select

    from queries.scope import Scope


@dataclass(frozen=True)
class HeldOnRow:
    """A change and when the flag was next changed for longer than a try."""

    id: int
    changed_at: datetime
    next_at: datetime | None


@dataclass(frozen=True)
class HeldOn:
    """The newest change that held a flag on in the scope's window, in one organization; no row where none did."""

    scope: Scope
    flag: str
    row: ClassVar[type] = HeldOnRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """Each change holds until the next of the same flag that was not soon taken back either."""
        kept = kept_changes(self.scope)
        next_at = func.lead(kept.c.changed_at).over(order_by=(kept.c.changed_at, kept.c.id)).label("next_at")
        every = select(*kept.c, next_at).where(kept.c.flag == self.flag).subquery("every")
        return (
            select(every.c.id, every.c.changed_at, every.c.next_at)
            .where(
                every.c["is"],
                every.c.changed_at < self.scope.until,
                or_(every.c.next_at.is_(None), every.c.next_at > self.scope.since),
            )
            .order_by(every.c.changed_at.desc(), every.c.id.desc())
            .limit(1)
        )
