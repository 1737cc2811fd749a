"""Which change turned a flag: the last with an effect of an organization's between two moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import or_, select

from queries import own_schema
from queries.flags.entries import is_on

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection, Select

audit = own_schema.flag_changes


class Turn(NamedTuple):
    """A change of a flag, and when it was made."""

    id: int
    at: datetime


@dataclass(frozen=True)
class TurnedBy:
    """The last change up to a moment that turned a flag to what was seen from then on.

    None where a later one found the flag otherwise: then something outside turned it. One of before ``since`` is none
    either: what was seen until then it did not turn.
    """

    org_id: str
    flag: str
    at: datetime
    on: bool
    since: datetime | None = None

    def statement(self) -> Select[Any]:
        """The newest that turned the flag, or found it otherwise than seen; of equals the one made last."""
        old, new = is_on(audit.c.old_state), is_on(audit.c.new_state)
        mine = (audit.c.org_id == self.org_id, audit.c.flag == self.flag, audit.c.changed_at <= self.at)
        late = () if self.since is None else (audit.c.changed_at >= self.since,)
        newest = (audit.c.changed_at.desc(), audit.c.id.desc())
        told = or_(old != new, new != self.on)
        return select(audit.c.id, audit.c.changed_at, new).where(*mine, *late, told).order_by(*newest).limit(1)

    def ask(self, connection: Connection) -> int | None:
        """Its id."""
        turn = self.turn(connection)
        return None if turn is None else turn.id

    def turn(self, connection: Connection) -> Turn | None:
        """Its id and when it was made."""
        row = connection.execute(self.statement()).one_or_none()
        return Turn(row[0], row[1]) if row is not None and row[2] == self.on else None
