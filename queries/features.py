"""One organization's feature flags, as a retrieval reads them before it ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import text

from queries.organizations import LONGEST_FEATURES, FlagStates, flag_states

if TYPE_CHECKING:
    from sqlalchemy import Connection, TextClause

# Every retrieval asks this: as text, because building the statement anew would take as long as its answer.
FLAGS = text("select left(cast(features as text), :longest) from organizations where id = :org")


@dataclass(frozen=True)
class FlagsOf:
    """The flags of one organization, unparsed: a malformed value is then told and not an error."""

    org_id: str

    def statement(self) -> TextClause:
        """Cut where a value is no longer a set of flags."""
        return FLAGS.bindparams(org=self.org_id, longest=LONGEST_FEATURES)

    def read(self, connection: Connection) -> FlagStates:
        """What is set; an organization that is not there has set nothing."""
        features: str | None = connection.execute(self.statement()).scalar_one_or_none()
        return flag_states(features)
