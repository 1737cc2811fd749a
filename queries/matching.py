"""Observations of one scope that hold a text: by full text, or letter by letter where no word matches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Text, cast, func, select

from queries.engine import AGGREGATE, LIST
from queries.schema import observations
from queries.scope import is_storable

if TYPE_CHECKING:
    from uuid import UUID

    from sqlalchemy import ColumnElement, Select

    from queries.engine import Store
    from queries.scope import Reach

MOST = 10
LONGEST = 2_000  # characters of a text that are looked for
SHOWN = 400  # characters of an observation in the list


@dataclass(frozen=True)
class Match:
    """One observation that holds the text, cut to what a list shows."""

    id: str
    title: str
    content: str
    status: str
    project: str | None


@dataclass(frozen=True)
class Matching:
    """The observations of an organization or project that hold a text, whatever their status."""

    org_id: str
    project_id: str | None
    text: str

    def statement(self, *, by_letters: bool = False) -> Select[Any]:
        """Those with the very letters first, then by how well the words match, then the newest; ten at most."""
        seen, sought = observations.c, self.text[:LONGEST].strip()
        literally = seen.content.icontains(sought, autoescape=True)
        words = func.websearch_to_tsquery("english", sought)
        found: ColumnElement[bool] = literally if by_letters else seen.search.op("@@")(words)
        limits = [seen.org_id == self.org_id]
        if self.project_id is not None:
            limits.append(seen.project_id == self.project_id)
        best = (literally.desc(), func.ts_rank(seen.search, words).desc(), seen.created_at.desc(), seen.id)
        return select(*_shown()).where(*limits, found).order_by(*best).limit(MOST + 1)

    def ask(self, store: Store, reach: Reach) -> tuple[Match, ...]:
        """The matches; letter by letter, which reads every text of the scope, only where no word was found."""
        if not self.text.strip() or not is_storable(self.text):
            return ()
        with store.reading(reach, AGGREGATE, name="matching") as connection:
            rows = (
                connection.execute(self.statement()).all() or connection.execute(self.statement(by_letters=True)).all()
            )
        return tuple(Match(*row) for row in rows)


@dataclass(frozen=True)
class Named:
    """The observation of an organization that has an id, whatever its project and status."""

    org_id: str
    id: UUID

    def ask(self, store: Store, reach: Reach) -> Match | None:
        """It, if the organization has it."""
        wanted = select(*_shown()).where(observations.c.org_id == self.org_id, observations.c.id == self.id)
        row = store.once(reach, LIST, lambda connection: connection.execute(wanted).first(), name="named")
        return None if row is None else Match(*row)


def _shown() -> tuple[ColumnElement[Any], ...]:
    seen = observations.c
    title, content = func.left(func.coalesce(seen.title, ""), SHOWN), func.left(seen.content, SHOWN)
    return cast(seen.id, Text), title, content, seen.status, seen.project_id
