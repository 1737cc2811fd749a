"""Whether anything was ever stored for a scope: what tells a first day from an empty window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import exists, select

from queries import schema
from queries.engine import LIST

if TYPE_CHECKING:
    from sqlalchemy import Select

    from queries.scope import Scope


@dataclass(frozen=True)
class HoldingsRow:
    """What a scope has at least one of."""

    observations: bool
    sessions: bool
    retrievals: bool


@dataclass(frozen=True)
class Holdings:
    """Whether a scope has any observation, session or logged retrieval, whatever the window."""

    scope: Scope
    row: ClassVar[type] = HoldingsRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[bool, bool, bool]:
        """One look into an index each."""
        observed, worked, logged = (
            exists().where(self.scope.tenant(table))
            for table in (schema.observations, schema.sessions, schema.retrieval_ab_logs)
        )
        return select(observed, worked, logged)
