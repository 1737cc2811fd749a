"""Which change holds a flag on: the last that left it so, held in a window and was not soon taken back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import func, or_, select

from queries import own_schema
from queries.engine import LIST
from queries.flags.entries import is_on
from queries.flags.series import kept_changes

if TYPE_CHECKING:
    from sqlalchemy import Select, Subquery

    from queries.scope import Scope

audit = own_schema.flag_changes


@dataclass(frozen=True)
class HeldOnRow:
    """A change and when the flag was next changed for longer than a try, or was found turned outside."""

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
        """Each change holds until the next that was not soon taken back, or until one found it turned outside."""
        kept, outside = kept_changes(self.scope), self._found_outside()
        following = func.lead(kept.c.changed_at).over(order_by=(kept.c.changed_at, kept.c.id))
        found = select(func.min(outside.c.changed_at)).where(outside.c.turned, outside.c.changed_at > kept.c.changed_at)
        next_at = func.least(following, found.correlate(kept).scalar_subquery()).label("next_at")  # passes over a null
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

    def _found_outside(self) -> Subquery:
        """Every entry of the flag, and whether it found it otherwise than the one before it had left it."""
        left = func.lag(is_on(audit.c.new_state)).over(order_by=(audit.c.changed_at, audit.c.id))
        turned = (left != is_on(audit.c.old_state)).label("turned")
        mine = (self.scope.organizations(audit.c.org_id), audit.c.flag == self.flag)
        return select(audit.c.changed_at, turned).where(*mine).subquery("outside")
