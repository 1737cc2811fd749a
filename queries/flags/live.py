"""One organization's feature flags, as a retrieval reads them before it ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from queries.flags.states import LONGEST_FEATURES, FlagStates, flag_states
from queries.rounds import Statement, ask_at_once

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from queries.connections import DeadlineConnection
    from queries.rounds import Rows

FLAGS = b"select left(cast(features as text), $1::int) from organizations where id = $2::text"


@dataclass(frozen=True)
class FlagsOf:
    """The flags of one organization, unparsed: a malformed value is then told and not an error."""

    org_id: str

    def statement(self) -> Statement:
        """Cut where a value is no longer a set of flags; every retrieval asks this, together with its recall."""
        return Statement(FLAGS, (LONGEST_FEATURES, self.org_id))

    def read(self, connection: Connection) -> FlagStates:
        """What is set, inside a snapshot that is already open."""
        raw: DeadlineConnection = connection.connection.driver_connection  # type: ignore[assignment]
        return self.states(ask_at_once(raw, [self.statement()], prepares=False)[0])

    @staticmethod
    def states(rows: Rows) -> FlagStates:
        """What is set by the answer; an organization that is not there has set nothing."""
        return flag_states(rows[0][0] if rows else None)
