"""The observations nearest to one: by the angle of their vectors, and by the bits of their SimHashes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import Double, and_, func, literal, literal_column, select

from queries import own_schema, schema
from queries.engine import AGGREGATE
from queries.moments import datable
from queries.observation.aggregated import bits_apart

if TYPE_CHECKING:
    from uuid import UUID

    from sqlalchemy import CTE, ColumnElement, Select

    from queries.scope import Scope

NEAREST = 10
ROUTE = "full"
LONGEST_EXCERPT = 500


def _with_their_texts(scope: Scope, near: CTE, measure: ColumnElement[Any]) -> Select[Any]:
    table = schema.observations
    stored = and_(table.c.org_id == scope.org, table.c.id == near.c.id)
    return (
        select(
            table.c.id,
            measure,
            table.c.project_id,
            table.c.agent_id,
            table.c.session_id,
            datable(table.c.created_at),
            table.c.status,
            func.left(table.c.content, LONGEST_EXCERPT),
        )
        .select_from(near.join(table, stored))
        .order_by(near.c.apart, near.c.id)
    )


@dataclass(frozen=True)
class SimilarRow:
    """A neighbour by vector: the cosine, and whose it is."""

    id: str
    cosine: float
    project_id: str | None
    agent_id: str | None
    session_id: str | None
    created_at: datetime | None
    status: str
    content: str


@dataclass(frozen=True)
class NearestByVector:
    """The ten of the organization whose full vectors make the smallest angle with the observation's own."""

    scope: Scope
    id: UUID
    row: ClassVar[type] = SimilarRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """Exact: every vector of equal length is compared, which no index of this expression can shorten.

        A vector of zeros has no angle to any: the extension calls its distance no number.
        """
        table = schema.observation_embeddings
        own = (
            select(table.c.embedding, func.vector_dims(table.c.embedding).label("dimensions"))
            .where(table.c.org_id == self.scope.org, table.c.observation_id == self.id, table.c.route == ROUTE)
            .cte("own")
            .prefix_with("materialized", dialect="postgresql")
        )
        apart = table.c.embedding.op("<=>", return_type=Double)(own.c.embedding)
        comparable = and_(
            table.c.org_id == self.scope.org,
            table.c.route == ROUTE,
            table.c.observation_id != self.id,
            func.vector_dims(table.c.embedding) == own.c.dimensions,
        )
        every = (
            select(table.c.observation_id.label("id"), apart.label("apart"))
            .select_from(own.join(table, comparable))
            .offset(literal_column("0"))  # without it every angle would be taken twice
            .subquery("every")
        )
        near = (
            select(every.c.id, every.c.apart)
            .where(every.c.apart < literal_column("'NaN'::float8"))
            .order_by(every.c.apart, every.c.id)
            .limit(NEAREST)
            .cte("near")
        )
        return _with_their_texts(self.scope, near, literal(1.0, Double) - near.c.apart)


@dataclass(frozen=True)
class AlikeRow:
    """A neighbour by SimHash: in how many of 64 bits it differs, and whose it is."""

    id: str
    bits: int
    project_id: str | None
    agent_id: str | None
    session_id: str | None
    created_at: datetime | None
    status: str
    content: str


@dataclass(frozen=True)
class NearestBySimhash:
    """The ten of the organization whose SimHashes, kept by the aggregation, differ in the fewest bits.

    A text that was rewritten since has none until the next pass.
    """

    scope: Scope
    id: UUID
    simhash: int
    row: ClassVar[type] = AlikeRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """Every kept fingerprint is compared; a text in which no token voted is no evidence.

        Texts are looked at from the nearest on, until ten are found that still are what was hashed.
        """
        kept, table = own_schema.simhashes, schema.observations
        apart = bits_apart(self.simhash)
        every = (
            select(kept.c.observation_id.label("id"), kept.c.content_hash, apart.label("apart"))
            .where(kept.c.org_id == self.scope.org, kept.c.observation_id != self.id, kept.c.tokens > 0)
            .order_by(apart, kept.c.observation_id)
            .offset(literal_column("0"))
            .subquery("every")
        )
        # the offsets keep it a look at one text after the other: in one join, all may be read and hashed
        text = (
            select(func.md5(table.c.content).label("hash"))
            .where(table.c.org_id == self.scope.org, table.c.id == every.c.id)
            .offset(literal_column("0"))
            .lateral("text")
        )
        near = (
            select(every.c.id, every.c.apart)
            .select_from(every.join(text, text.c.hash == every.c.content_hash))
            .order_by(every.c.apart, every.c.id)
            .limit(NEAREST)
            .cte("near")
        )
        return _with_their_texts(self.scope, near, near.c.apart)
