"""Which change holds a flag on: the last that left it so, held in a window and was not soon taken back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import or_, select

from queries.engine import LIST
from queries.flags.series import kept_changes

if TYPE_CHECKING:
    from sqlalchemy import Select

    from queries.scope import Scope


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
        kept = kept_changes(self.scope)
        return (
            select(kept.c.id, kept.c.changed_at, kept.c.next_at)
            .where(
                kept.c.flag == self.flag,
                kept.c["is"],
                kept.c.changed_at < self.scope.until,
                or_(kept.c.next_at.is_(None), kept.c.next_at > self.scope.since),
            )
            .order_by(kept.c.changed_at.desc(), kept.c.id.desc())
            .limit(1)
        )
