"""One observation with a whole life planted around it: weights, a cluster, a contradiction, retrievals, vectors."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid5

from analysis.observation import fingerprint
from tests import sample
from tests.scopes import ALIKE, add_observation

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    import psycopg

    Owner = psycopg.Connection[Any]

OUTCOMES = ("accepted", "rejected", "rework", None)
OPPOSITE = "never use async await for database calls"
MINE = [1.0, 0.0, 0.0]


@dataclass(frozen=True)
class Planted:
    """The ids that tests ask for."""

    id: UUID
    alike: tuple[UUID, ...]
    opposite: UUID
    retrievals: tuple[UUID, ...]


def plant(owner: Owner, org: str, *, retrievals: int = 70, seed: int = 7, text: str = ALIKE[0]) -> Planted:
    """An organization with one observation of interest and its surroundings."""
    sample.add_organization(owner, org)
    id_ = add_observation(
        owner, org, "mine", text, agent_id="agent-a", session_id="s0", tags=["db", "style"], weight=0.9,
        title=sample.canary(org, "title"), source="agent",
    )  # fmt: skip
    alike = tuple(
        add_observation(owner, org, f"alike-{at}", ALIKE[at], agent_id=f"agent-{at}", session_id=f"s{at}")
        for at in (1, 2)
    )
    opposite = add_observation(owner, org, "opposite", OPPOSITE, agent_id="agent-z")
    add_observation(owner, org, "far", "the staging certificate expires in spring")
    with owner.cursor() as cursor:
        cursor.executemany(
            """insert into sessions (org_id, id, project_id, outcome, created_at, ended_at)
               values (%s, %s, 'api', %s, %s, %s)""",
            [(org, f"s{n}", OUTCOMES[n % 4], day(30 - n), day(29 - n)) for n in range(20)],
        )
    logged = _log(owner, org, (id_, *alike), retrievals, seed)
    _weights(owner, org, id_)
    _aggregate(owner, org, id_, alike, opposite)
    vectors = [(id_, MINE), (alike[0], [0.9, 0.1, 0.0]), (alike[1], [0.0, 1.0, 0.0]), (opposite, [0.5, 0.5])]
    for whose, vector in vectors:
        owner.execute(
            "insert into observation_embeddings values (%s, %s, 'full', %s::vector)", (org, whose, json.dumps(vector))
        )
    return Planted(id_, alike, opposite, tuple(logged))


def day(ago: int) -> datetime:
    """Midnight so many days ago."""
    return sample.TODAY - timedelta(days=ago)


def _log(owner: Owner, org: str, ids: tuple[UUID, ...], count: int, seed: int) -> list[UUID]:
    draw = random.Random(seed)  # noqa: S311 - the same life every time
    logged, rows = [], []
    for n in range(count):
        retrieval = uuid5(sample.NAMESPACE, f"{org}/life/{n}")
        # Pairs of retrievals share one moment, so that pages have ties to part.
        at = day(20) + timedelta(hours=n // 2)
        session, query = f"s{draw.randrange(25)}", sample.canary(org, f"query-{n}")
        ranks = draw.sample(range(20), 3), draw.sample(range(20), 3)
        enabled, injected = draw.random() < 0.8, draw.choice([True, True, False, None])
        logged.append(retrieval)
        rows += [
            (org, retrieval, session, query, which, before, after, enabled, injected, at)
            for which, before, after in zip(ids, *ranks, strict=True)
        ]
    with owner.cursor() as cursor:
        cursor.executemany(
            """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, project_id, query_text, observation_id,
                 relevance_score, feedback_weight, weighted_score, unweighted_rank, weighted_rank, weighting_enabled,
                 injected, created_at) values (%s, %s, %s, 'api', %s, %s, 0.5, 1, 0.5, %s, %s, %s, %s, %s)""",
            rows,
        )
    return logged


def _weights(owner: Owner, org: str, id_: UUID) -> None:
    weight = 1.0
    for n, (outcome, alpha) in enumerate([("rejected", 0.15), ("accepted", 0.1), ("rework", 0.15)]):
        moved = weight * (1 - alpha) + (alpha if outcome == "accepted" else 0)
        owner.execute(
            """insert into observation_weight_history (org_id, project_id, observation_id, session_id, outcome,
                 previous_weight, new_weight, alpha, recorded_at) values (%s, 'api', %s, %s, %s, %s, %s, %s, %s)""",
            (org, id_, f"s{n}", outcome, weight, moved, alpha, day(9 - n)),
        )
        weight = moved


def _aggregate(owner: Owner, org: str, id_: UUID, alike: tuple[UUID, ...], opposite: UUID) -> None:
    for finished in (3, 2):  # the older pass found nothing and must not be heard
        row = owner.execute(
            """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version, finished_at)
               values (%s, 'api', 'done', 'v', now() - %s * interval '1 hour') returning id""",
            (org, finished),
        ).fetchone()
    run = row[0] if row else 0
    for place, member in enumerate((alike[0], id_, alike[1])):
        owner.execute(
            "insert into rankscope.clusters values (%s, %s, %s, 4, %s, true, 2, 3, 3, 3, %s)",
            (org, run, member, place == 0, member == alike[1]),
        )
    evidence = [
        {"side": "older", "text": "use", "start": 0, "end": 3},
        {"side": "newer", "text": "never", "start": 0, "end": 5},
    ]
    for place, (name, older, newer) in enumerate((("print", id_, opposite), ("inside", *alike))):
        owner.execute(
            """insert into rankscope.contradictions values (%s, %s, %s, %s, %s, %s, 'negation', 'a rule', 0.8, 61.5,
                 '{}', %s)""",
            (org, run, place, name, older, newer, json.dumps(evidence)),
        )
    owner.execute(
        """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version, finished_at)
           values (%s, 'api', 'failed', 'v', now())""",
        (org,),
    )
    stored = owner.execute("select id, content from observations where org_id = %s", (org,)).fetchall()
    for observation, content in stored:
        found = fingerprint(content)
        owner.execute(
            "insert into rankscope.simhashes values (%s, %s, md5(%s), %s, %s)",
            (org, observation, content, found.simhash, found.tokens),
        )
