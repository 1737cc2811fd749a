"""Where an observation lives, and over which time it is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import and_, func, literal, select

from queries import schema
from queries.aggregation_input import LONGEST
from queries.engine import LIST
from queries.moments import BEGIN, END
from queries.scope import Reach, Scope

if TYPE_CHECKING:
    from uuid import UUID

    from sqlalchemy import Select


def whole_life(org: str) -> Scope:
    """The observation's own organization and no other, over all time: a dossier does not stop at a window."""
    return Scope(Reach((org,)), BEGIN, END, org)


@dataclass(frozen=True)
class HomeRow:
    """The organization of an observation, and the text that its fingerprint is taken of."""

    org_id: str
    content: str


@dataclass(frozen=True)
class Home:
    """The organization in reach that holds an observation, whatever organization the scope names.

    No row for an unknown id and none for one out of reach: the two cannot be told apart.
    """

    scope: Scope
    id: UUID
    row: ClassVar[type] = HomeRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """One probe of the primary key per organization; of equal ids, the one in the scope's organization."""
        orgs, table = schema.organizations, schema.observations
        here = and_(table.c.org_id == orgs.c.id, table.c.id == self.id)
        return (
            select(table.c.org_id, func.left(table.c.content, LONGEST))
            .select_from(orgs.join(table, here))
            .where(self.scope.reach.where(orgs.c.id), self.scope.reach.where(table.c.org_id))
            .order_by((table.c.org_id == literal(self.scope.org or "")).desc(), table.c.org_id)
            .limit(1)
        )
