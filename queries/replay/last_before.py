"""When an organization last retrieved anything before a moment, in as many days as a window can have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

    from queries.scope import Scope

LOOKED_BACK = timedelta(days=90)  # the longest window up to today that is offered


@dataclass(frozen=True)
class LastBefore:
    """The newest retrieval of a scope's organization and project before a moment, whatever the window."""

    scope: Scope
    at: datetime
    shape: LogShape = COMPLETE_SHAPE

    def statement(self) -> Select[Any]:
        """Its time; nothing where there is none."""
        log = self.shape.rows(replace(self.scope, since=self.at - LOOKED_BACK, until=self.at))
        return select(func.max(log.c.at))

    def ask(self, connection: Connection) -> datetime | None:
        """The same inside a snapshot that is already open."""
        found: datetime | None = connection.execute(self.statement()).scalar_one()
        return found
