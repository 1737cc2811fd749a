"""A log whose every number is known: retrievals of three observations, which can be replayed unless made faulty."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from tests import sample

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]

AT = sample.TODAY - timedelta(days=1)
SCORES = (
    (0.9, 0.5),
    (0.8, 1.0),
    (0.7, 1.0),
)  # relevance, weight: 0.45, 0.8, 0.7, so that weighting moves the first last
AFTER = (2, 0, 1)
BUDGET = 25  # tokens; each text takes ten, so two fit


def text(number: int) -> str:
    return f"observation {number} ".ljust(40, "x")


def plant(owner: Owner, org: str, name: str, **changed: Any) -> UUID:  # noqa: ANN401 - a column's values
    """A whole, reproducible retrieval of three candidates, with some columns changed."""
    retrieval = uuid5(sample.NAMESPACE, f"{org}/{name}")
    columns: dict[str, Any] = {
        "observation": [uuid5(sample.NAMESPACE, f"{org}/{n}") for n in range(3)],
        "relevance": [score[0] for score in SCORES],
        "weight": [score[1] for score in SCORES],
        "before": [0, 1, 2],
        "after": list(AFTER),
        "injected": [False, True, True],
        "weighting": True,
        "boost": [None, None, None],
        "project": "api",
        **changed,
    }
    with owner.cursor() as cursor:
        cursor.executemany(
            """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, project_id, query_text, observation_id,
                 relevance_score, feedback_weight, weighted_score, unweighted_rank, weighted_rank, weighting_enabled,
                 injected, corroboration_boost, pipeline, created_at)
               values (%s, %s, %s, %s, 'why', %s, %s, %s, 0.1, %s, %s, %s, %s, %s, 'LIVE', %s)""",
            [
                (org, retrieval, f"session-{name}", columns["project"], *row[:5], columns["weighting"], *row[5:], AT)
                for row in zip(
                    *(
                        columns[key]
                        for key in ("observation", "relevance", "weight", "before", "after", "injected", "boost")
                    ),
                    strict=True,
                )
            ],
        )
    owner.execute(
        """insert into context_injection_logs (org_id, retrieval_id, session_id, project_id, token_budget, tokens_used,
             candidates, observation_ids, created_at) values (%s, %s, %s, 'api', %s, 20, 3, '{}', %s)""",
        (org, retrieval, f"session-{name}", BUDGET, AT),
    )
    return retrieval


def plant_organization(owner: Owner, org: str, name: str | None = None, **columns: str) -> str:
    """An organization with three observations and one sound retrieval; ``columns`` are contents by number."""
    sample.add_organization(owner, org, name)
    for number in range(3):
        content = columns.get(f"text_{number}", text(number))
        id_, created = uuid5(sample.NAMESPACE, f"{org}/{number}"), AT - timedelta(days=5 - number)
        owner.execute(
            """insert into observations (org_id, id, project_id, agent_id, content, content_hash, created_at)
               values (%s, %s, 'api', %s, %s, 'x', %s)""",
            (org, id_, f"agent-{number}", content, created),
        )
    plant(owner, org, "sound")
    return org


def plant_explored(owner: Owner, org: str) -> str:
    """An organization that drew one order in four at random, and logged how likely each was: one session a retrieval.

    120 got the order of their weights (propensity 0.75, 96 accepted), 40 the order without: of these 20 with
    propensity 0.25 (2 accepted) and 20 with 0.5 (8 accepted). The sound retrieval has no session that ended.
    """
    plant_organization(owner, org)
    owner.execute("alter table retrieval_ab_logs add column propensity double precision")
    drawn = {"after": [0, 1, 2], "injected": [True, True, False]}
    for kind, count, accepted, likely, changed in (
        ("weighted", 120, 96, 0.75, {}),
        ("rare", 20, 2, 0.25, drawn),
        ("even", 20, 8, 0.5, drawn),
    ):
        made = [plant(owner, org, f"{kind}-{number}", **changed) for number in range(count)]
        for number in range(count):
            outcome = "accepted" if number < accepted else "rejected"
            sample.add_session(owner, org, f"session-{kind}-{number}", outcome)
        say_likely(owner, made, likely)
    return org


def say_likely(owner: Owner, retrievals: list[UUID], propensity: float | None) -> None:
    owner.execute("update retrieval_ab_logs set propensity = %s where retrieval_id = any(%s)", (propensity, retrievals))
