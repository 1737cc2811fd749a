"""A store for one caller: whatever runs inside can ask for less than the caller may see, never for more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from queries.engine import Store
from queries.scope import OutOfReachError

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from queries.engine import Local
    from queries.scope import Reach


class ConfinedStore(Store):
    """A store that only reads, and refuses a wider reach before a statement is made of it."""

    def __init__(self, reader: Engine, reach: Reach) -> None:
        super().__init__(reader)
        self.reach = reach

    def reading_settings(
        self, reach: Reach, limit: float, principal: str = "", name: str | None = None, more: Local = None
    ) -> dict[str, str]:
        """What every snapshot sets, if the caller may see all of its reach: without it none can be opened."""
        if not reach.within(self.reach):
            raise OutOfReachError
        return super().reading_settings(reach, limit, principal, name, more)
