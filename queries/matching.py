"""Observations of one scope that hold a text or are called so: by words, or letter by letter where no word matches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sqlalchemy import Text, cast, func, literal, select

from queries.engine import AGGREGATE, LIST
from queries.moments import BEGIN, END
from queries.observation.titled import PART, WHOLE, WORDS, held, titled_first
from queries.schema import observations
from queries.scope import Reach, Scope, is_storable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, FromClause, Row, Select

    from queries.engine import Store

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
    held: int = field(default=WORDS, compare=False)

    @property
    def called(self) -> bool:
        """Whether the text is its title, or what a page calls it."""
        return self.held == WHOLE


@dataclass(frozen=True)
class Matching:
    """The observations of an organization or project that hold a text, whatever their status.

    Titles are looked for among the newest active, as everywhere; ``called`` are ids of what a page calls so, and
    ``near`` those that come before others with the same letters in their titles.
    """

    org_id: str
    project_id: str | None
    text: str
    called: tuple[str, ...] = ()
    near: frozenset[str] = frozenset()

    def statement(self, *, by_letters: bool = False) -> Select[Any]:
        """Those with the very letters first, of these in titles, then by how well the words match, then the newest."""
        seen, how = observations.c, held(observations, self._sought)
        words = func.websearch_to_tsquery("english", self._sought)
        found: ColumnElement[bool] = how < WORDS if by_letters else seen.search.op("@@")(words)
        rank = func.ts_rank(seen.search, words)
        best = (how, rank.desc(), seen.created_at.desc(), seen.id)
        return self._rows(how, rank, found).order_by(*best).limit(MOST + 1)

    def ask(self, store: Store, reach: Reach) -> tuple[Match, ...]:
        """What is called so first; letter by letter, which reads every text of the scope, only where nothing is."""
        if not self.text.strip() or not is_storable(self.text):
            return ()
        said = self._rows(literal(WHOLE), literal(0.0), observations.c.id.in_([UUID(id_) for id_ in self.called]))
        titled = titled_first(self._scope, self._sought, _shown, MOST + 1, ranked=True)
        with store.reading(reach, AGGREGATE, name="matching") as connection:
            asked = [*([said] if self.called else []), titled, self.statement()]
            rows = self._best([row for each in asked for row in connection.execute(each)])
            rows = rows or connection.execute(self.statement(by_letters=True)).all()
        return tuple(Match(*row[:-1]) for row in rows)

    def _rows(self, how: ColumnElement[int], rank: ColumnElement[float], found: ColumnElement[bool]) -> Select[Any]:
        return select(*_shown(observations), how, rank).where(self._scope.tenant(observations), found)

    def _best(self, rows: Sequence[Row[*tuple[Any, ...]]]) -> Sequence[Row[*tuple[Any, ...]]]:
        """Each once, as what holds the text best; of equal titles those that are near first."""

        def place(row: Row[*tuple[Any, ...]]) -> tuple[int, bool, float]:
            id_, *_, how, rank = row
            return how, how <= PART and id_ not in self.near, -rank

        best: dict[str, Row[*tuple[Any, ...]]] = {}
        for row in sorted(rows, key=place):
            best.setdefault(row[0], row)
        return list(best.values())[: MOST + 1]

    @property
    def _scope(self) -> Scope:
        return Scope(Reach((self.org_id,)), BEGIN, END, self.org_id, self.project_id)

    @property
    def _sought(self) -> str:
        return self.text[:LONGEST].strip()


@dataclass(frozen=True)
class Named:
    """The observation of an organization that has an id, whatever its project and status."""

    org_id: str
    id: UUID

    def ask(self, store: Store, reach: Reach) -> Match | None:
        """It, if the organization has it."""
        wanted = select(*_shown(observations)).where(observations.c.org_id == self.org_id, observations.c.id == self.id)
        row = store.once(reach, LIST, lambda connection: connection.execute(wanted).first(), name="named")
        return None if row is None else Match(*row)


def _shown(table: FromClause) -> tuple[ColumnElement[Any], ...]:
    seen = table.c
    title, content = func.left(func.coalesce(seen.title, ""), SHOWN), func.left(seen.content, SHOWN)
    return cast(seen.id, Text), title, content, seen.status, seen.project_id
