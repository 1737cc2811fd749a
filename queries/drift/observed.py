"""The observations that are searched for contradictions, the version of that search's input, and whole texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sqlalchemy import (
    BigInteger,
    Integer,
    Text,
    Uuid,
    any_,
    bindparam,
    cast,
    column,
    func,
    literal,
    literal_column,
    null,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY, aggregate_order_by

from queries import schema
from queries.aggregation_input import ACTIVE, LIMIT, LONGEST, InputRow, day, hashed_row, opposed
from queries.engine import AGGREGATE
from queries.moments import datable_microseconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from queries.scope import Scope

# Raise it when a search finds other things in the same data.
PROCEDURE = "drift 2"


def watched(scope: Scope) -> ColumnElement[bool]:
    """The active observations of an organization and, if the scope names one, a project, whatever the window."""
    return scope.tenant(schema.observations) & (schema.observations.c.status == ACTIVE)


@dataclass(frozen=True)
class InputVersion:
    """A text that differs whenever a search would: observations, opposition pairs, and the day, which ages severity.

    Each project is hashed for itself: an observation that moves to another meets other statements there. A store
    that does not keep opposition pairs is ``paired`` False.
    """

    scope: Scope
    paired: bool = True
    row: ClassVar[type] = InputRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """One row, also where the scope has no observation."""
        table = schema.observations
        each = (
            select(table.c.project_id, func.count().label("active"), func.sum(hashed_row()).label("summed"))
            .where(watched(self.scope))
            .group_by(table.c.project_id)
            .cte("each")
        )
        one = func.jsonb_build_array(each.c.project_id, each.c.active, each.c.summed).cast(Text)
        stored = select(func.string_agg(one, aggregate_order_by(literal(","), one))).scalar_subquery()
        pairs: ColumnElement[Any] = opposed(literal(self.scope.org)) if self.paired else null()
        active = func.coalesce(select(func.sum(each.c.active)).scalar_subquery(), literal_column("0"))
        columns: tuple[ColumnElement[Any], ...] = (
            func.md5(func.concat_ws("/", literal(PROCEDURE), day(), stored, pairs)),
            cast(active, BigInteger),
            func.now(),
        )
        return select(*columns)

    def ask(self, connection: Connection) -> InputRow:
        """The version in this connection's snapshot."""
        return InputRow(*connection.execute(self.statement()).one())


class ObservedRow(NamedTuple):
    """One observation as a search reads it; a time that no calendar holds is none."""

    id: str
    project_id: str | None
    content: str
    weight: float
    created_us: int | None
    agent_id: str | None
    session_id: str | None


@dataclass(frozen=True)
class NewestObserved:
    """The newest active observations of a scope, at most 10 000, as an aggregation pass reads them."""

    scope: Scope

    def statement(self) -> Select[Any]:
        """Texts are cut where a pass cuts them, so that both find the same fingerprints."""
        table = schema.observations
        return (
            select(
                table.c.id.cast(Text),
                table.c.project_id,
                func.left(table.c.content, LONGEST),
                func.coalesce(table.c.weight, 1.0),
                datable_microseconds(table.c.created_at),
                table.c.agent_id,
                table.c.session_id,
            )
            .where(watched(self.scope))
            .order_by(table.c.created_at.desc(), table.c.id)
            .limit(LIMIT)
        )

    def ask(self, connection: Connection) -> list[ObservedRow]:
        """The rows, newest first."""
        return [ObservedRow(*row) for row in connection.execute(self.statement())]


class TextRow(NamedTuple):
    """A text, its hash as the platform keeps it, and how long it is."""

    content: str
    content_hash: str
    characters: int


@dataclass(frozen=True)
class Texts:
    """What observations of one organization say, whole or at most so many characters."""

    scope: Scope
    ids: tuple[str, ...]
    longest: int | None = None

    def statement(self) -> Select[Any]:
        """By primary key."""
        table = schema.observations
        content: ColumnElement[str] = (
            table.c.content if self.longest is None else func.left(table.c.content, self.longest)
        )
        return select(table.c.id.cast(Text), content, table.c.content_hash, func.length(table.c.content)).where(
            self.scope.tenant(table), table.c.id == any_(uuids(self.ids))
        )

    def ask(self, connection: Connection) -> dict[str, TextRow]:
        """By id; what is gone has no entry."""
        return {row[0]: TextRow(*row[1:]) for row in connection.execute(self.statement())}


@dataclass(frozen=True)
class Excerpts:
    """Parts of what observations of one organization say, each from a character on; one text may be asked for twice."""

    scope: Scope
    places: tuple[tuple[str, int], ...]
    longest: int

    def statement(self) -> Select[Any]:
        """By primary key; the whole text's length comes along."""
        table = schema.observations
        begins = bindparam(None, [begin for _, begin in self.places], type_=ARRAY(Integer))
        named = (column("id", Uuid(as_uuid=False)), column("begin", Integer))
        asked = func.unnest(uuids([id_ for id_, _ in self.places]), begins).table_valued(*named, name="asked")
        asked = asked.render_derived()
        part = func.substr(table.c.content, asked.c.begin + 1, self.longest)
        return (
            select(table.c.id.cast(Text), asked.c.begin, part, table.c.content_hash, func.length(table.c.content))
            .join_from(asked, table, table.c.id == asked.c.id)
            .where(self.scope.tenant(table))
        )

    def ask(self, connection: Connection) -> dict[tuple[str, int], TextRow]:
        """By id and first character, from 0; what is gone has no entry."""
        return {(row[0], row[1]): TextRow(*row[2:]) for row in connection.execute(self.statement())}


@dataclass(frozen=True)
class Lengths:
    """How long the texts of observations are, in characters, so that nobody reads too many long ones at once."""

    scope: Scope
    ids: tuple[str, ...]

    def statement(self) -> Select[Any]:
        """By primary key."""
        table = schema.observations
        return select(table.c.id.cast(Text), func.length(table.c.content)).where(
            self.scope.tenant(table), table.c.id == any_(uuids(self.ids))
        )

    def ask(self, connection: Connection) -> dict[str, int]:
        """By id; what is gone has no entry."""
        return {row[0]: row[1] or 0 for row in connection.execute(self.statement())}


def uuids(ids: Sequence[str]) -> ColumnElement[Any]:
    """Ids as one bound array, however many."""
    return bindparam(None, list(ids), type_=ARRAY(Uuid(as_uuid=False)))
