"""A store with planted contradictions and a log of what agents were given of them."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from queries.scope import Reach, Scope
from tests import sample
from tests.scopes import add_observation

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]

PORTS = ("The dispatch API listens on port 8080.", "The dispatch API listens on port 9090.")
RETRIES = ("Manifest checks are required for exports.", "Manifest checks are optional for exports.")
LOGS = (
    "The royalty ledger keeps its raw logs for 30 days on the northern cluster.",
    "The royalty ledger keeps its raw logs for 90 days after closing.",
)
UNRELATED = "The staging certificate expires in spring."


def add_pair(
    owner: Owner,
    org: str,
    name: str,
    texts: tuple[str, str],
    project: str | None = "api",
    *,
    days: int = 3,
    by: str | None = None,
) -> tuple[str, str]:
    """An older and a newer statement by two agents, the newer ``days`` old and the older a week more.

    ``by`` names agent and session of both sides instead.
    """
    made = [
        add_observation(
            owner, org, f"{name}-{side}", text, project, agent_id=by or f"agent-{side}",
            session_id=by or f"ses-{name}-{side}",
            created_at=sample.TODAY - timedelta(days=days + (7 if side == "older" else 0)),
        )
        for side, text in zip(("older", "newer"), texts, strict=True)
    ]  # fmt: skip
    return str(made[0]), str(made[1])


def add_given(
    owner: Owner,
    org: str,
    session: str,
    ids: list[str],
    *,
    name: str = "r",
    days: int = 1,
    injected: bool | None = True,
) -> UUID:
    """One retrieval of a session that injected these observations."""
    retrieval = uuid5(sample.NAMESPACE, f"{org}/{session}/{name}")
    with owner.cursor() as cursor:
        cursor.executemany(
            """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, project_id, query_text, observation_id,
                 relevance_score, feedback_weight, weighted_score, unweighted_rank, weighted_rank, weighting_enabled,
                 injected, created_at)
               values (%s, %s, %s, 'api', 'q', %s, 0.5, 1, 0.5, %s, %s, true, %s, %s)""",
            [
                (org, retrieval, session, id_, rank, rank, injected, sample.TODAY - timedelta(days=days))
                for rank, id_ in enumerate(ids)
            ],
        )
    return retrieval


def window(org: str, days: int = 30, project: str | None = None) -> Scope:
    """The last days up to now, of one organization and in no further reach."""
    today = sample.TODAY.astimezone(UTC).date()
    return Scope.of_days(Reach((org,)), today - timedelta(days=days - 1), today, org, project)
