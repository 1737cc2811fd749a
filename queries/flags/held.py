"""Which change holds a flag on: the last that left it so and held in a window."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import func, or_, select

from queries import own_schema
from queries.engine import LIST
from queries.flags.entries import STORED

if TYPE_CHECKING:
    from sqlalchemy import Select

    from queries.scope import Scope

audit = own_schema.flag_changes


@dataclass(frozen=True)
class HeldOnRow:
    """A change and when the flag was next changed."""

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
        """Each change holds until the next of the same flag and organization."""
        in_order = (audit.c.changed_at, audit.c.id)
        next_at = func.lead(audit.c.changed_at).over(partition_by=audit.c.org_id, order_by=in_order).label("next_at")
        of_flag = (self.scope.organizations(audit.c.org_id), audit.c.flag == self.flag)
        every = select(*in_order, audit.c.new_state, next_at).where(*of_flag).subquery("every")
        return (
            select(every.c.id, every.c.changed_at, every.c.next_at)
            .where(
                every.c.new_state == STORED["on"],
                every.c.changed_at < self.scope.until,
                or_(every.c.next_at.is_(None), every.c.next_at > self.scope.since),
            )
            .order_by(every.c.changed_at.desc(), every.c.id.desc())
            .limit(1)
        )
