"""Where triage stands: per alert, its history, and what was said of earlier alerts about the same two observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Text, any_, bindparam, select
from sqlalchemy.dialects.postgresql import ARRAY

from queries import own_schema

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection, Select

table = own_schema.drift_triage


class TriageRow(NamedTuple):
    """What is stored of one alert's triage, under the store's names."""

    fingerprint: str
    state: str
    verdict: str | None
    owner: str | None
    note: str
    snoozed_until: datetime | None
    version: int
    changed_by: str
    changed_at: datetime


@dataclass(frozen=True)
class TriageOf:
    """What triage says of these alerts of one organization; one that nobody touched has no entry."""

    org_id: str
    fingerprints: tuple[str, ...]

    def statement(self) -> Select[Any]:
        """By primary key."""
        names = (table.c[name] for name in TriageRow._fields)
        wanted = bindparam(None, list(self.fingerprints), type_=ARRAY(Text))
        return select(*names).where(table.c.org_id == self.org_id, table.c.fingerprint == any_(wanted))

    def ask(self, connection: Connection) -> dict[str, TriageRow]:
        """By fingerprint."""
        if not self.fingerprints:
            return {}
        return {row[0]: TriageRow(*row) for row in connection.execute(self.statement())}
