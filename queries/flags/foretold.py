"""What was foretold of the changes in a list, where a boost was switched on: the figures that gates judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import Text, cast, func, select

from queries import own_schema
from queries.engine import AGGREGATE
from queries.flags.entries import STORED

if TYPE_CHECKING:
    from sqlalchemy import Select

    from queries.flags.history import FlagHistory
    from queries.scope import Scope

audit = own_schema.flag_changes
JUDGED = ("retrievals", "present", "top_changed", "entered", "left")


@dataclass(frozen=True)
class ForetoldRow:
    """One change, and its figures as JSON: those that its preview lacks are left out."""

    id: int
    figures: str


@dataclass(frozen=True)
class Foretold:
    """The changes of a page of the history that switched a flag on and have a preview."""

    listed: FlagHistory
    flag: str
    row: ClassVar[type] = ForetoldRow
    limit: ClassVar[float] = AGGREGATE

    @property
    def scope(self) -> Scope:
        """That of the history."""
        return self.listed.scope

    def statement(self) -> Select[Any]:
        """As many as the page has at most: the rest of a preview, which may be long, stays in the store."""
        named = (part for name in JUDGED for part in (name, audit.c.preview[name]))
        figures = func.jsonb_strip_nulls(func.jsonb_build_object(*named))
        mine = (audit.c.flag == self.flag, audit.c.new_state == STORED["on"], audit.c.preview.is_not(None))
        newest_first = (audit.c.changed_at.desc(), audit.c.id.desc())
        return (
            select(audit.c.id, cast(figures, Text))
            .where(*self.listed.wanted(), *mine)
            .order_by(*newest_first)
            .limit(self.listed.size)
        )
