"""Which change turned a flag: the last of an organization's between two moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from queries import own_schema
from queries.flags.entries import spoken

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection, Select

audit = own_schema.flag_changes


@dataclass(frozen=True)
class TurnedBy:
    """The last change of a flag up to a moment, if it left the flag on, or not on, as was seen from then on.

    One of before ``since`` is none: what was seen until then it did not turn.
    """

    org_id: str
    flag: str
    at: datetime
    on: bool
    since: datetime | None = None

    def statement(self) -> Select[Any]:
        """The newest; of equals the one made last."""
        mine = (audit.c.org_id == self.org_id, audit.c.flag == self.flag, audit.c.changed_at <= self.at)
        late = () if self.since is None else (audit.c.changed_at >= self.since,)
        newest = (audit.c.changed_at.desc(), audit.c.id.desc())
        return select(audit.c.id, spoken(audit.c.new_state)).where(*mine, *late).order_by(*newest).limit(1)

    def ask(self, connection: Connection) -> int | None:
        """Its id."""
        row = connection.execute(self.statement()).one_or_none()
        return row[0] if row is not None and (row[1] == "on") == self.on else None
