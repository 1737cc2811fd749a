"""Sessions that were given observations, and what those learned from their outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from tests import sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg

    Owner = psycopg.Connection[Any]


def add_session(
    owner: Owner, session: str, observations: Sequence[UUID], *, org: str = "org_a", outcome: str | None = None
) -> None:
    """A session that was given these, in two retrievals that overlap."""
    sample.add_session(owner, org, session, outcome)
    for part in (observations, observations[:1]):
        owner.execute(
            """insert into context_injection_logs (org_id, retrieval_id, session_id, token_budget, tokens_used,
                 candidates, observation_ids) values (%s, %s, %s, 100, 50, 9, %s)""",
            (org, uuid4(), session, list(part)),
        )


def weights(owner: Owner, org: str = "org_a") -> dict[UUID, float]:
    return dict(owner.execute("select id, weight from observations where org_id = %s", (org,)).fetchall())


def history(owner: Owner) -> list[tuple[Any, ...]]:
    return owner.execute(
        """select observation_id, session_id, outcome, previous_weight, new_weight, alpha
             from observation_weight_history order by id"""
    ).fetchall()
