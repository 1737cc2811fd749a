"""The record of what left the store as a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import insert

from queries import own_schema
from queries.engine import LIST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from queries.engine import Store
    from queries.scope import Reach


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
