"""The newest observations of a scope, to start from where no id is at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import func, select, true

from queries import schema
from queries.engine import LIST
from queries.moments import datable, is_datable
from queries.observation.search import LONGEST_TEXT, MatchRow
from queries.organizations import in_scope, shown_name

if TYPE_CHECKING:
    from sqlalchemy import Select

    from queries.scope import Scope


@dataclass(frozen=True)
class LatestObservations:
    """The newest active observations of the scope's organization and project, whatever the window."""

    scope: Scope
    shown: int
    row: ClassVar[type] = MatchRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """The newest of each organization from the end of its index, then of these the newest."""
        orgs, table = schema.organizations, schema.observations
        shown = (table.c.id, table.c.project_id, table.c.agent_id, table.c.created_at, table.c.status, table.c.content)
        newest = (
            select(*shown)
            .where(
                table.c.org_id == orgs.c.id,
                self.scope.tenant(table),
                table.c.status == "active",
                is_datable(table.c.created_at),
            )
            .order_by(table.c.created_at.desc(), table.c.id)
            .limit(self.shown)
            .lateral("newest")
        )
        return (
            select(
                newest.c.id,
                shown_name(orgs),
                newest.c.project_id,
                newest.c.agent_id,
                datable(newest.c.created_at),
                newest.c.status,
                func.left(newest.c.content, LONGEST_TEXT),
            )
            .select_from(orgs.join(newest, true()))
            .where(in_scope(self.scope))
            .order_by(newest.c.created_at.desc(), newest.c.id)
            .limit(self.shown)
        )
