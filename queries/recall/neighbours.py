"""What was observed just before and just after an observation, in the same session and from the same source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import String, bindparam, cast, func, literal_column, select, true, tuple_, union_all
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Text, Uuid

from queries.engine import LIST
from queries.recall.legs import OBSERVATIONS, ORG

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Select

    from queries.engine import Store
    from queries.scope import Reach

BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class Neighbour:
    """One observation beside another; shown for context, never ranked (002)."""

    of: str
    side: str
    id: str
    title: str
    content: str


@dataclass(frozen=True)
class NeighboursOf:
    """The one before and the one after each of some observations of an organization."""

    org: str
    ids: tuple[str, ...]

    def statement(self) -> Select[Any]:
        """At most two rows an observation; of equal times the id decides."""
        both = union_all(_beside(BEFORE), _beside(AFTER)).subquery("neighbour")
        return select(*both.c).order_by(both.c.of, both.c.side.desc())

    def ask(self, store: Store, reach: Reach) -> tuple[Neighbour, ...]:
        """The neighbours that exist, by observation, the one before first."""
        with store.reading(reach, LIST, name="neighbours") as connection:
            return tuple(_named(connection.execute(self.statement(), {"org": self.org, "ids": list(self.ids)}).all()))


def _named(rows: Sequence[Any]) -> list[Neighbour]:
    return [Neighbour(*row) for row in rows]


def _beside(side: str) -> Select[Any]:
    one, other = OBSERVATIONS.alias("one"), OBSERVATIONS.alias("other")
    mine, its = tuple_(one.c.created_at, one.c.id), tuple_(other.c.created_at, other.c.id)
    near = [other.c.created_at.desc(), other.c.id.desc()] if side == BEFORE else [other.c.created_at, other.c.id]
    found = (
        select(other.c.id, other.c.title, other.c.content)
        .where(
            other.c.org_id == ORG,
            other.c.session_id == one.c.session_id,
            other.c.source.is_not_distinct_from(one.c.source),
            other.c.status == "active",
            its < mine if side == BEFORE else its > mine,
        )
        .order_by(*near)
        .limit(literal_column("1"))
        .lateral("found")
    )
    wanted = cast(bindparam("ids", type_=ARRAY(Text)), ARRAY(Uuid))
    return (
        select(
            cast(one.c.id, Text).label("of"),
            literal_column(f"'{side}'", String).label("side"),
            cast(found.c.id, Text).label("id"),
            func.coalesce(found.c.title, "").label("title"),
            found.c.content,
        )
        .select_from(one.join(found, true()))
        .where(one.c.org_id == ORG, one.c.id == func.any(wanted))
    )
