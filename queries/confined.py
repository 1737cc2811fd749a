"""A store for one caller: whatever runs inside can ask for less than the caller may see, never for more."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from queries.engine import AGGREGATE, Store
from queries.scope import OutOfReachError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

    from queries.engine import Local
    from queries.scope import Reach


class ConfinedStore(Store):
    """A store that only reads, and refuses a wider reach before a statement is made of it."""

    def __init__(self, reader: Engine, reach: Reach) -> None:
        super().__init__(reader)
        self.reach = reach

    @contextmanager
    def reading(
        self, reach: Reach, limit: float = AGGREGATE, principal: str = "", name: str | None = None, more: Local = None
    ) -> Iterator[Connection]:
        """A snapshot as every store opens it, if the caller may see all of its reach."""
        if not reach.within(self.reach):
            raise OutOfReachError
        with super().reading(reach, limit, principal, name, more) as connection:
            yield connection
