"""What Corroboration looks at: the newest observations of a scope, and the texts of those that are shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sqlalchemy import BigInteger, and_, case, cast, func, null, select
from sqlalchemy.types import Text

from queries import own_schema, schema
from queries.aggregation_input import ACTIVE, LIMIT, LONGEST
from queries.engine import AGGREGATE
from queries.moments import datable, datable_microseconds
from queries.replay.shown import named
from queries.shape import keeps

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select

    from queries.scope import Scope

SHOWN = 2_000  # characters of a text that is compared word by word, or leaves as a file


class NewestRow(NamedTuple):
    """One observation; its text is there if it was asked for, or has to be hashed because no fingerprint was kept."""

    id: str
    project_id: str | None
    agent_id: str | None
    session_id: str | None
    weight: float
    created_us: int | None
    simhash: int | None
    tokens: int | None
    content: str | None


class Newest(NamedTuple):
    """The newest active observations, newest first, how many are active in all, and the snapshot's time."""

    rows: list[NewestRow]
    active: int
    as_of: datetime


@dataclass(frozen=True)
class NewestOfScope:
    """The newest 10 000 active observations of an organization or of one of its projects, whatever the window (000)."""

    scope: Scope
    texts: bool = False

    def ask(self, connection: Connection) -> Newest:
        """The rows inside a snapshot that is already open; a store without our schema has kept no fingerprints."""
        kept = keeps(connection, "simhashes")
        rows = [NewestRow(*row) for row in connection.execute(self.statement(kept_hashes=kept))]
        active, as_of = connection.execute(select(self._counted(), func.now())).one()
        return Newest(rows, active, as_of)

    def statement(self, *, kept_hashes: bool = True) -> Select[Any]:
        """A kept fingerprint counts only for the very text it was taken of."""
        table, kept = schema.observations, own_schema.simhashes
        named = ("org_id", "id", "project_id", "agent_id", "session_id", "weight", "created_at", "content")
        newest = (
            select(*(table.c[name] for name in named))
            .where(self._active())
            .order_by(table.c.created_at.desc(), table.c.id)
            .limit(LIMIT)
            .subquery("newest")
        )
        about = (
            newest.c.id.cast(Text),
            newest.c.project_id,
            newest.c.agent_id,
            newest.c.session_id,
            func.coalesce(newest.c.weight, 1.0),
            datable_microseconds(newest.c.created_at),
        )
        text = func.left(newest.c.content, LONGEST)
        order = (newest.c.created_at.desc(), newest.c.id)
        if not kept_hashes:
            nothing = cast(null(), BigInteger)
            return select(*about, nothing, nothing, text).order_by(*order)
        same_text = and_(
            kept.c.org_id == newest.c.org_id,
            kept.c.observation_id == newest.c.id,
            kept.c.content_hash == func.md5(newest.c.content),
        )
        shown: ColumnElement[Any] = text if self.texts else case((kept.c.simhash.is_(None), text))
        return (
            select(*about, kept.c.simhash, kept.c.tokens, shown)
            .select_from(newest.outerjoin(kept, same_text))
            .order_by(*order)
        )

    def _active(self) -> ColumnElement[bool]:
        table = schema.observations
        return and_(self.scope.tenant(table), table.c.status == ACTIVE)

    def _counted(self) -> ColumnElement[int]:
        return select(func.count()).select_from(schema.observations).where(self._active()).scalar_subquery()


@dataclass(frozen=True)
class MemberTextRow:
    """One observation as it is compared and exported: the beginning of its text, and how long that is in all."""

    org_id: str
    id: str
    text: str
    characters: int
    created_at: datetime | None


@dataclass(frozen=True)
class MemberTexts:
    """Texts of some observations of the scope's organization; an unknown or foreign id has no row."""

    scope: Scope
    ids: tuple[str, ...]
    longest: int = SHOWN
    row: ClassVar[type] = MemberTextRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """By primary key, cut in the store."""
        table = schema.observations
        return (
            select(
                table.c.org_id,
                table.c.id,
                func.left(table.c.content, self.longest),
                func.char_length(table.c.content),
                datable(table.c.created_at),
            )
            .where(named(self.scope, self.ids))
            .order_by(table.c.id)
        )
