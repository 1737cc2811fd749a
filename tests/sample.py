"""Small stores with planted facts, so that a test can name the number it expects."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]

NAMESPACE = UUID("6f1d7a60-95a3-4c39-9d52-3ad8dfb7a1a1")
TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def canary(org: str, field: str) -> str:
    """A text that stands in one field of one organization and nowhere else."""
    return f"CANARY-{org}-{field}"


def add_organization(owner: Owner, org: str, name: str | None = None, features: object = "{}") -> str:
    owner.execute(
        "insert into organizations (id, name, features) values (%s, %s, %s)",
        (
            org,
            name or canary(org, "name"),
            features if features is None or isinstance(features, str) else json.dumps(features),
        ),
    )
    owner.execute("insert into projects (org_id, id, name) values (%s, %s, %s)", (org, "api", canary(org, "project")))
    return org


def add_observations(owner: Owner, org: str, count: int, *, days_ago: int = 1) -> list[UUID]:
    ids = [uuid5(NAMESPACE, f"{org}/{days_ago}/{i}") for i in range(count)]
    with owner.cursor() as cursor:
        cursor.executemany(
            """insert into observations (org_id, id, project_id, content, content_hash, created_at)
               values (%s, %s, 'api', %s, %s, %s)""",
            [(org, id_, canary(org, "content"), str(i), TODAY - timedelta(days=days_ago)) for i, id_ in enumerate(ids)],
        )
    return ids


def add_session(owner: Owner, org: str, session: str, outcome: str | None = "accepted", *, days_ago: int = 1) -> None:
    owner.execute(
        "insert into sessions (org_id, id, project_id, outcome, created_at) values (%s, %s, 'api', %s, %s)",
        (org, session, outcome, TODAY - timedelta(days=days_ago)),
    )


def add_retrieval(
    owner: Owner,
    org: str,
    ranks: list[tuple[int | None, int | None]],
    *,
    name: str,
    weighted: bool = True,
    days_ago: int = 1,
    scores: float | None = 0.5,
    observations: list[UUID] | None = None,
) -> UUID:
    """One retrieval whose candidates have these (unweighted, weighted) ranks."""
    retrieval = uuid5(NAMESPACE, f"{org}/{name}")
    with owner.cursor() as cursor:
        cursor.executemany(
            """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, project_id, query_text, observation_id,
                 relevance_score, feedback_weight, weighted_score, unweighted_rank, weighted_rank, weighting_enabled,
                 created_at)
               values (%s, %s, %s, 'api', %s, %s, %s, 1, %s, %s, %s, %s, %s)""",
            [
                (
                    org, retrieval, f"session-{name}", canary(org, "query"),
                    observations[i] if observations else uuid5(NAMESPACE, f"{org}/{name}/{i}"),
                    scores, scores, before, after, weighted, TODAY - timedelta(days=days_ago) + timedelta(hours=12),
                )
                for i, (before, after) in enumerate(ranks)
            ],
        )  # fmt: skip
    return retrieval


def unchanged(size: int) -> list[tuple[int | None, int | None]]:
    """Ranks that feedback left alone."""
    return [(i, i) for i in range(size)]


def swapped(size: int, one: int, other: int) -> list[tuple[int | None, int | None]]:
    """Ranks where feedback swapped two places."""
    after = list(range(size))
    after[one], after[other] = after[other], after[one]
    return list(zip(range(size), after, strict=True))
