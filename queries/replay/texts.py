"""What a replay needs of the observations: how long they are, when they came to be, what they are like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import BigInteger, Text, and_, any_, bindparam, case, cast, func, literal_column, null, select
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Uuid

from queries import own_schema, schema
from queries.aggregation_input import LONGEST
from queries.moments import datable_microseconds
from queries.shape import keeps

if TYPE_CHECKING:
    from uuid import UUID

    from sqlalchemy import ColumnElement, Connection, Select

    from queries.replay.logged import Ids, Whole

VECTOR_HEADER = 4  # bytes that ``vector_send`` writes in front of the numbers
FULL: ColumnElement[str] = literal_column(
    "'full'"
)  # written out: as a parameter it would keep a generic plan from the partial index

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class StoredLengths:
    """Observations by id, and the characters of each."""

    id: Ids
    characters: Whole


@dataclass(frozen=True)
class Lengths:
    """How long every observation of an organization is; the texts themselves stay in the store."""

    org_id: str

    def statement(self) -> Select[Any]:
        """Of any status: what was retired since had a length when it was retrieved."""
        table = schema.observations
        return select(func.uuid_send(table.c.id), func.char_length(table.c.content)).where(
            table.c.org_id == self.org_id
        )

    def read(self, connection: Connection) -> StoredLengths:
        """The lengths, sorted by id."""
        rows = connection.execute(self.statement()).all()
        ids, characters = np.array([row[0] for row in rows], "S16"), np.array([row[1] for row in rows], np.int64)
        order = np.argsort(ids)
        return StoredLengths(ids[order], characters[order])


@dataclass(frozen=True, eq=False)
class StoredVoices:
    """Active observations with what near-duplicates are found by; a text is there only where no hash was kept."""

    id: Ids
    project: tuple[str | None, ...]
    agent: tuple[str | None, ...]
    created: Whole
    simhash: npt.NDArray[np.uint64]
    tokens: Whole
    unhashed: tuple[int, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class StoredForClusters:
    """Every active observation of an organization as a clustering pass would read it."""

    org_id: str

    def statement(self, *, kept_hashes: bool = True) -> Select[Any]:
        """A kept fingerprint counts only for the very text it was taken of."""
        table, kept = schema.observations, own_schema.simhashes
        created = datable_microseconds(table.c.created_at)
        about = (func.uuid_send(table.c.id), table.c.project_id, table.c.agent_id, created)
        mine = and_(table.c.org_id == self.org_id, table.c.status == literal_column("'active'"))
        text = func.left(table.c.content, LONGEST)
        if not kept_hashes:
            nothing = cast(null(), BigInteger)
            return select(*about, nothing, nothing, text).where(mine)
        same_text = and_(
            kept.c.org_id == table.c.org_id,
            kept.c.observation_id == table.c.id,
            kept.c.content_hash == func.md5(table.c.content),
        )
        return (
            select(*about, kept.c.simhash, kept.c.tokens, case((kept.c.simhash.is_(None), text)))
            .select_from(table.outerjoin(kept, same_text))
            .where(mine)
        )

    def read(self, connection: Connection) -> StoredVoices:
        """The observations, in no particular order; one without a readable time has never existed.

        A store without our schema has kept no fingerprints.
        """
        kept = keeps(connection, "simhashes")
        rows = [row for row in connection.execute(self.statement(kept_hashes=kept)).all() if row[3] is not None]
        ids, project, agent, created, simhash, tokens, texts = list(zip(*rows, strict=True)) or [()] * 7
        unhashed = tuple(place for place, hashed in enumerate(simhash) if hashed is None)
        return StoredVoices(
            id=np.array(ids, "S16"),
            project=project,
            agent=agent,
            created=np.array(created, np.int64),
            # the store has signed numbers only
            simhash=np.array([value or 0 for value in simhash], np.int64).view(np.uint64),
            tokens=np.array([value or 0 for value in tokens], np.int64),
            unhashed=unhashed,
            texts=tuple(texts[place] for place in unhashed),
        )


@dataclass(frozen=True, eq=False)
class StoredVectors:
    """Observations by id with their full vectors, all of the dimension that most have, and their tags."""

    id: Ids
    vectors: Vectors
    tags: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class FullVectors:
    """What some observations are like: full vector and tags; those without a vector are left out."""

    org_id: str
    ids: tuple[UUID, ...]

    def statement(self) -> Select[Any]:
        """In binary: read as text, a million numbers would take longer than the replay."""
        table, vectors = schema.observations, schema.observation_embeddings
        full = and_(vectors.c.org_id == table.c.org_id, vectors.c.observation_id == table.c.id, vectors.c.route == FULL)
        return (
            select(func.uuid_send(table.c.id), func.vector_send(vectors.c.embedding), table.c.tags.cast(ARRAY(Text)))
            .select_from(table.join(vectors, full))
            .where(
                table.c.org_id == self.org_id,
                table.c.id == any_(bindparam(None, list(self.ids), type_=ARRAY(Uuid))),
            )
        )

    def read(self, connection: Connection) -> StoredVectors:
        """Sorted by id; a vector of another dimension can be compared with none of the others."""
        rows = sorted(connection.execute(self.statement()).all(), key=lambda row: row[0])
        widths = np.array([len(row[1]) for row in rows], np.int64)
        width = int(np.bincount(widths).argmax()) if rows else VECTOR_HEADER
        kept = [row for row in rows if len(row[1]) == width]
        cells = np.frombuffer(b"".join(row[1] for row in kept), np.uint8).reshape(len(kept), width)[:, VECTOR_HEADER:]
        vectors = np.ascontiguousarray(cells).view(">f4").astype(np.float32)
        return StoredVectors(
            np.array([row[0] for row in kept], "S16"), vectors, tuple(tuple(row[2] or ()) for row in kept)
        )
