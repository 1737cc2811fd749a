"""Retrievals whose scores explain their ranks, so that turning weighting has an effect that can be counted by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from tests import sample

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]

# Six candidates of ten tokens each, of which three fit. By relevance alone the block is 0, 1, 2; feedback sends the
# first to the end, so that it is 1, 2, 3. Turning weighting lets one in and one out, and changes the first five.
RELEVANCE = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
WEIGHTS = (0.1, 1.0, 1.0, 1.0, 1.0, 1.0)
TOKENS, BUDGET = 10, 30


def add_observed(owner: Owner, org: str) -> list[UUID]:
    """The six observations of an organization."""
    ids = [uuid5(sample.NAMESPACE, f"{org}/weighed/{place}") for place in range(6)]
    for place, id_ in enumerate(ids):
        content = f"{sample.canary(org, 'content')} {place}".ljust(4 * TOKENS, ".")[: 4 * TOKENS]
        owner.execute(
            """insert into observations (org_id, id, project_id, content, content_hash, created_at)
               values (%s, %s, 'api', %s, %s, now() - interval '200 days')""",
            (org, id_, content, str(place)),
        )
    return ids


def add_weighed(owner: Owner, org: str, ids: list[UUID], count: int, *, hours_ago: float = 12, on: bool = True) -> None:
    """So many retrievals, made with weighting on or off."""
    at = datetime.now(UTC) - timedelta(hours=hours_ago)
    scores = [r * w if on else r for r, w in zip(RELEVANCE, WEIGHTS, strict=True)]
    ranked = sorted(range(6), key=lambda place: -scores[place])
    for number in range(count):
        name = f"{org}/{hours_ago}/{on}/{number}"
        retrieval, session = uuid5(sample.NAMESPACE, name), f"session-{name}"
        owner.execute(
            """insert into context_injection_logs (org_id, retrieval_id, session_id, token_budget, tokens_used,
                 candidates, created_at) values (%s, %s, %s, %s, %s, 6, %s)""",
            (org, retrieval, session, BUDGET, BUDGET, at),
        )
        for place, id_ in enumerate(ids):
            after = ranked.index(place)
            owner.execute(
                """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, project_id, query_text,
                     observation_id, relevance_score, feedback_weight, weighted_score, unweighted_rank, weighted_rank,
                     weighting_enabled, injected, created_at)
                   values (%s, %s, %s, 'api', 'q', %s, %s, %s, %s, %s, %s, %s, %s, %s)""",
                (org, retrieval, session, id_, RELEVANCE[place], WEIGHTS[place], scores[place], place, after, on,
                 after < BUDGET // TOKENS, at),
            )  # fmt: skip
