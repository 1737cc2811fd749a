"""A store of observations whose vectors mean what their texts say: word vectors added up, topics inside areas."""

from collections.abc import Iterator
from uuid import UUID

import numpy as np
import numpy.typing as npt
import psycopg

from benchmarks._corpus import vocabulary

DIMENSIONS = 256
AREAS, TOPICS = 20, 25  # topics are of each area
COMMON, OF_AREA, OF_TOPIC = 4_000, 60, 30  # words of each kind
TURN_ROUTES = ("user", "assistant", "next_user")
FACETS = ("personal_info", "preferences", "events")
SMALL = 400  # observations of the small organization
NOISE = 0.03
Vector = npt.NDArray[np.float32]

OBSERVATIONS = """copy observations (org_id, id, project_id, session_id, granularity, content, content_hash, created_at)
                  from stdin"""
EMBEDDINGS = "copy observation_embeddings (org_id, observation_id, route, embedding) from stdin"


class World:
    """Words and their vectors: the vector of a text is the sum of its words', common ones counting less."""

    def __init__(self, seed: int = 0) -> None:
        draw = np.random.default_rng(seed)
        self.draw = draw
        words = vocabulary(draw)
        topics = AREAS * TOPICS
        cuts = np.cumsum([COMMON, AREAS * OF_AREA, topics * OF_TOPIC])
        self.common, areas, of_topics = words[: cuts[0]], words[cuts[0] : cuts[1]], words[cuts[1] : cuts[2]]
        self.of_area, self.of_topic = areas.reshape(AREAS, OF_AREA), of_topics.reshape(topics, OF_TOPIC)
        area = draw.normal(size=(AREAS, 1, DIMENSIONS))
        topic = np.repeat(area[:, 0], TOPICS, axis=0)[:, None] + draw.normal(size=(topics, 1, DIMENSIONS))
        self.common_vectors = draw.normal(size=(COMMON, DIMENSIONS)) * _weights(COMMON)[:, None]
        self.area_vectors = area + draw.normal(size=(AREAS, OF_AREA, DIMENSIONS))
        self.topic_vectors = topic + draw.normal(size=(topics, OF_TOPIC, DIMENSIONS))

    def text(self) -> tuple[str, Vector]:
        """A text of 8 to 60 words about one topic, and its vector."""
        draw, length = self.draw, int(self.draw.integers(8, 61))
        topic = int(draw.integers(0, AREAS * TOPICS))
        shared, of_topic = length // 2, max(1, length // 4)
        common = _zipf(draw, COMMON, shared)
        narrow, wide = _zipf(draw, OF_TOPIC, of_topic), _zipf(draw, OF_AREA, max(1, length - shared - of_topic))
        area = topic // TOPICS
        words = [*self.common[common], *self.of_topic[topic][narrow], *self.of_area[area][wide]]
        vector = self.common_vectors[common].sum(axis=0) + self.topic_vectors[topic][narrow].sum(axis=0)
        return " ".join(words), _unit(vector + self.area_vectors[area][wide].sum(axis=0))

    def near(self, vector: Vector) -> Vector:
        """A vector of another kind for the same text."""
        return _unit(vector + self.draw.normal(size=DIMENSIONS) * NOISE)


def fill(connection: psycopg.Connection, world: World, count: int) -> dict[str, dict[str, Vector]]:
    """Organizations with 60 %, 6 % and few of the observations, and seven others; full vectors of the first three.

    Half are turns with three more vectors, and each has one of three facets in ten. Order is that of arrival.
    """
    draw = world.draw
    orgs = ["large", "middle", "small", *(f"other_{n}" for n in range(7))]
    shares = np.array([0.6, 0.06, SMALL / count, *[(0.34 - SMALL / count) / 7] * 7])
    connection.execute("drop index embeddings_full")
    for org in orgs:
        connection.execute("insert into organizations (id, name) values (%s, %s)", (org, org))
    held: dict[str, dict[str, Vector]] = {"large": {}, "middle": {}, "small": {}}
    owners = draw.choice(len(orgs), count, p=shares)
    vectors: list[tuple[str, str, str, Vector]] = []
    with connection.cursor() as cursor, cursor.copy(OBSERVATIONS) as copy:
        for number, owner in enumerate(owners):
            org, id_ = orgs[owner], str(UUID(bytes=draw.bytes(16)))
            text, vector = world.text()
            turn = number % 2 == 0
            kind = "turn" if turn else "observation"
            at = np.datetime64("2026-01-01", "s") + number
            copy.write_row((org, id_, f"p{number % 3}", f"s{number // 10}", kind, text, str(number), f"{at}Z"))
            held.get(org, {})[id_] = vector
            routes = ["full", *(TURN_ROUTES if turn else ()), *(f for f in FACETS if draw.random() < 0.1)]  # noqa: PLR2004
            vectors += [(org, id_, r, vector if r == "full" else world.near(vector)) for r in routes]
    with connection.cursor() as cursor, cursor.copy(EMBEDDINGS) as copy:
        for org, id_, route, vector in vectors:
            copy.write_row((org, id_, route, as_text(vector)))
    return held


def as_text(vector: Vector) -> str:
    """A vector as Postgres reads it."""
    return f"[{','.join(['%.9g'] * vector.size)}]" % tuple(vector.tolist())


def index(connection: psycopg.Connection, routes: Iterator[str]) -> None:
    """An index for each of some routes, as the store's own for the full vector."""
    connection.execute("set maintenance_work_mem = '1GB'")
    for route in routes:
        definition = psycopg.sql.SQL(
            """create index {name} on observation_embeddings using hnsw ((embedding::vector(256)) vector_cosine_ops)
               where route = {route} and vector_dims(embedding) = 256"""
        ).format(name=psycopg.sql.Identifier(f"embeddings_{route}"), route=psycopg.sql.Literal(route))
        connection.execute(definition)


def _zipf(draw: np.random.Generator, words: int, count: int) -> npt.NDArray[np.intp]:
    steps = np.cumsum(1.0 / (np.arange(words) + 3.7))
    places: npt.NDArray[np.intp] = np.searchsorted(steps, draw.random(count) * steps[-1])
    return places


def _weights(words: int) -> npt.NDArray[np.float64]:
    """From nearly nothing for the commonest word to 1 for rare ones."""
    return np.minimum(1.0, np.log2(2 + np.arange(words)) / 10)


def _unit(vector: npt.NDArray[np.float64]) -> Vector:
    return (vector / np.linalg.norm(vector)).astype(np.float32)
