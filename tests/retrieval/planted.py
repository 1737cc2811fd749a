"""A small memory in a store, so that a test can name what a question should find."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from retrieval.embedders import WordLlamaEmbedder
from retrieval.memory import AgentSession
from tests.sample import NAMESPACE, add_organization

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg

    from retrieval.embedders import Embedder

    Owner = psycopg.Connection[Any]

NOW = datetime(2026, 3, 29, 12, tzinfo=UTC)
SESSION = AgentSession("acme", "ses_1", project_id="api", work_type="bug_fix")
QUESTION = "fix null pointer in auth middleware"
TEXTS = (
    "The null pointer in the auth middleware came from a missing session cookie.",
    "Auth middleware must check the token before it reads the user.",
    "A null check in the middleware hides the real fault in the session store.",
    "The login page keeps the auth cookie for eight hours.",
    "Bananas ripen faster beside apples.",
)
# two that say the same within 16 bits and not within 3, then one that answers better and stands alone
COMPILED = (
    "The build server keeps what it compiled in a folder of its own for a week so that the next run of every project"
)
TWINS = (
    f"{COMPILED} is faster than the one before today.",
    f"{COMPILED} is faster than the one before now.",
    TEXTS[0],
)
EMBEDDER = WordLlamaEmbedder()


@dataclass(frozen=True)
class Planted:
    """An organization's observations, in the order of their texts."""

    org: str
    ids: tuple[UUID, ...]


def plant(
    owner: Owner,
    org: str = "acme",
    texts: Sequence[str] = TEXTS,
    *,
    weights: Sequence[float] | None = None,
    features: object = "{}",
    embedder: Embedder = EMBEDDER,
) -> Planted:
    """One organization whose project ``api`` remembers these texts, each with its vector."""
    add_organization(owner, org, features=features)
    ids = tuple(uuid5(NAMESPACE, f"{org}/planted/{place}") for place in range(len(texts)))
    vectors = embedder.embed(texts)
    with owner.cursor() as cursor:
        cursor.executemany(
            """insert into observations (org_id, id, project_id, agent_id, session_id, title, content, content_hash,
                 weight, created_at)
               values (%s, %s, 'api', %s, %s, %s, %s, %s, %s, %s)""",
            [
                (org, id_, f"agent-{place}", f"earlier-{place}", f"Note {place}", text, str(place),
                 1.0 if weights is None else weights[place], NOW - timedelta(days=place + 1))
                for place, (id_, text) in enumerate(zip(ids, texts, strict=True))
            ],
        )  # fmt: skip
        cursor.executemany(
            "insert into observation_embeddings values (%s, %s, 'full', %s)",
            [(org, id_, str(vector.tolist())) for id_, vector in zip(ids, vectors, strict=True) if vector.any()],
        )
    return Planted(org, ids)


def add_session(owner: Owner, org: str, session: str, work_type: str | None = None) -> None:
    owner.execute(
        "insert into sessions (org_id, id, project_id, work_type) values (%s, %s, 'api', %s)", (org, session, work_type)
    )
