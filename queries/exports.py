"""The record of what left the store as a file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import insert, select

from queries import own_schema
from queries.engine import LIST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Select

    from queries.engine import Store
    from queries.scope import Reach, Scope

TAKEN = 10  # files that are listed


@dataclass(frozen=True)
class RecordExport:
    """Who took which rows of which organizations, by which filter, into which file."""

    kind: str
    format: str
    filter: Mapping[str, object]
    rows: Mapping[str, int]
    file_name: str
    actor: str

    def record(self, store: Store, reach: Reach) -> None:
        """One row per organization, in one transaction; a file is only handed out once they stand."""
        same = {"kind": self.kind, "format": self.format, "file_name": self.file_name, "actor": self.actor}
        filtered = {"filter": dict(self.filter)}
        values = [{"org_id": org, "rows": count, **same, **filtered} for org, count in self.rows.items()]
        if not values:
            return
        with store.writing(reach, LIST, name="export") as connection:
            connection.execute(insert(own_schema.exports), values)


@dataclass(frozen=True)
class TakenRow:
    """One file: when and by whom it was taken, format and name, how many rows it holds, its SHA-256 if it was kept."""

    exported_at: datetime
    actor: str
    format: str
    file_name: str
    rows: int
    sha256: str | None


@dataclass(frozen=True)
class TakenFiles:
    """The newest files of one kind that hold rows of the scope's organization, the last one first."""

    scope: Scope
    kind: str
    row: ClassVar[type] = TakenRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """Down the primary key."""
        taken = own_schema.exports
        sha256 = taken.c.filter["sha256"].astext
        return (
            select(taken.c.exported_at, taken.c.actor, taken.c.format, taken.c.file_name, taken.c.rows, sha256)
            .where(self.scope.reach.where(taken.c.org_id), taken.c.org_id == self.scope.org, taken.c.kind == self.kind)
            .order_by(taken.c.id.desc())
            .limit(TAKEN)
        )
