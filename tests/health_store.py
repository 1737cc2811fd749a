"""A store whose state of health is planted, and every figure about it formed anew with pandas, row by row."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

import pandas as pd

from tests import sample

if TYPE_CHECKING:
    import psycopg

    from queries.scope import Scope

    Owner = psycopg.Connection[Any]

NOW = sample.TODAY
ORGS = ("org_a", "org_b")
WORK = ("bug_fix", "chore", None)
NUMBERS = (1.0, 1.0, 0.9, 0.5, 0.19, 0.05, float("nan"), float("inf"))
# State, verdict, and how far from now a snooze ends; no decision is one too.
DECISIONS = (
    None, ("new", None, None), ("acknowledged", None, None), ("investigating", None, None),
    ("false_positive", None, None), ("resolved", "older", None), ("resolved", "newer", None),
    ("resolved", "both", None), ("snoozed", None, "1 day"), ("snoozed", None, "-1 day"),
)  # fmt: skip
TABLES = (
    "observations", "observation_embeddings", "retrieval_ab_logs", "context_injection_logs", "sessions",
    "session_diagnostics", "rankscope.aggregation_runs", "rankscope.clusters", "rankscope.contradictions",
    "rankscope.log_writers", "observation_weight_history", "rankscope.drift_triage",
)  # fmt: skip


def obs(org: str, number: int) -> UUID:
    """The id of a planted observation."""
    return uuid5(sample.NAMESPACE, f"health/{org}/{number}")


def plant(owner: Owner, seed: int, size: int = 60) -> None:
    """Two organizations with everything that Health counts, some of it wrong."""
    draw = random.Random(seed)  # noqa: S311 - a test's own choice
    with owner.transaction():
        _plant(owner, draw, size)


def _plant(owner: Owner, draw: random.Random, size: int) -> None:
    for org in ORGS:
        sample.add_organization(owner, org, org.upper())
        _observations(owner, draw, org, size)
        _sessions(owner, draw, org, size)
        _passes(owner, draw, org, size)
        owner.execute(
            """insert into rankscope.log_writers (org_id, writer, name, queued, written, rows, dropped, failed,
                 last_failure, started_at, seen_at)
               values (%s, gen_random_uuid(), 'p', 0, 90, 900, 7, 3, 'slow', %s, %s)""",
            (org, NOW, NOW),
        )


def _observations(owner: Owner, draw: random.Random, org: str, size: int) -> None:
    for number in range(size):
        written = NOW - timedelta(days=draw.choice([1, 3, 6, 8, 20, 60, 100, 200]), hours=draw.randrange(24))
        read = draw.choice([None, None, NOW - timedelta(days=draw.choice([1, 40, 95]))])
        owner.execute(
            """insert into observations (org_id, id, project_id, agent_id, content, content_hash, weight, status,
                 created_at, last_accessed_at) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)""",
            (
                org, obs(org, number), draw.choice(["api", "web", None]), draw.choice(["ann", "bob", None]),
                f"text {number}", str(draw.randrange(size // 2)), draw.choice(NUMBERS),
                draw.choice(["active"] * 5 + ["archived"]), written, read,
            ),
        )  # fmt: skip
        for route in draw.sample(["full", "user"], draw.randrange(3)):
            vector = str([0.5] * draw.choice([3, 3, 3, 4]))
            owner.execute(
                "insert into observation_embeddings values (%s, %s, %s, %s)", (org, obs(org, number), route, vector)
            )


def _sessions(owner: Owner, draw: random.Random, org: str, size: int) -> None:
    for number in range(size):
        at = NOW - timedelta(days=draw.randrange(45)) + timedelta(hours=draw.randrange(20))
        session, outcome = f"s{number}", draw.choice(["accepted", "accepted", "rework", "rejected", None])
        owner.execute(
            """insert into sessions (org_id, id, project_id, agent_id, work_type, outcome, created_at)
               values (%s, %s, 'api', 'ann', %s, %s, %s)""",
            (org, session, draw.choice(WORK), outcome, at),
        )
        for turn in range(draw.randrange(3)):
            _retrieval(owner, draw, org, size, session=session, turn=turn, at=at)
        owner.execute(
            """insert into session_diagnostics (org_id, session_id, outcome, helpful_observation_ids,
                 misleading_observation_ids, created_at) values (%s, %s, %s, %s, %s, %s)""",
            (
                org, session, outcome, [obs(org, draw.randrange(size))],
                [obs(org, draw.randrange(size // 6)) for _ in range(draw.randrange(2))], at,
            ),
        )  # fmt: skip


def _retrieval(
    owner: Owner, draw: random.Random, org: str, size: int, *, session: str, turn: int, at: datetime
) -> None:
    retrieval = uuid5(sample.NAMESPACE, f"health/{org}/{session}/{turn}")
    found = draw.sample(range(size), 4)
    owner.execute(
        """insert into context_injection_logs (org_id, retrieval_id, session_id, project_id, token_budget, tokens_used,
             candidates, observation_ids, created_at) values (%s, %s, %s, 'api', 500, %s, %s, '{}', %s)""",
        (org, retrieval, session, draw.randrange(1, 500), draw.choice([4, 4, 4, 0]), at),
    )
    fault = draw.choice(["", "", "", "", "lost", "hole", "twice", "score"])
    if fault == "lost":
        return
    after = draw.sample(range(4), 4)
    rows = [
        [obs(org, each), 0.5, before, after[before], draw.choice([True, False])] for before, each in enumerate(found)
    ]
    if fault == "hole":
        del rows[draw.randrange(4)]
    elif fault == "twice":
        rows[1][0] = rows[0][0]
    elif fault == "score":
        rows[0][1] = float("nan")
    for id_, score, before, place, injected in rows:
        owner.execute(
            """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, project_id, query_text, observation_id,
                 relevance_score, feedback_weight, weighted_score, unweighted_rank, weighted_rank, weighting_enabled,
                 injected, created_at) values (%s, %s, %s, 'api', 'q', %s, %s, 1, 0.5, %s, %s, true, %s, %s)""",
            (org, retrieval, session, id_, score, before, place, injected, at),
        )


def _passes(owner: Owner, draw: random.Random, org: str, size: int) -> None:
    for project in ("api", "web"):
        for age in (30, 2):  # hours; the newer one stands
            started = NOW - timedelta(hours=age)
            (run,) = owner.execute(
                """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version, active,
                     observations, set_apart, clusters, corroborated, contradictions, elapsed_ms, started_at,
                     finished_at, checked_at)
                   values (%s, %s, 'done', 'v', %s, %s, 1, 3, 12, 2, 250, %s, %s, %s) returning id""",
                (
                    org,
                    project,
                    size,
                    size,
                    started,
                    started,
                    started + timedelta(minutes=90 if project == "api" else 0),
                ),
            ).fetchone()  # type: ignore[misc]
            members = draw.sample(range(size), 12)
            for place, number in enumerate(members):
                owner.execute(
                    """insert into rankscope.clusters (org_id, run_id, observation_id, cluster, canonical, disputed,
                         corroboration_score, agents, diameter) values (%s, %s, %s, %s, %s, false, 4, %s, 2)""",
                    (org, run, obs(org, number), place % 3, place < 3, draw.choice([1, 2, 3])),
                )
            for place in range(6):
                older, newer = draw.sample(range(size), 2)
                owner.execute(
                    """insert into rankscope.contradictions (org_id, run_id, place, fingerprint, older, newer, kind,
                         rule, overlap, severity, parts, evidence)
                       values (%s, %s, %s, %s, %s, %s, 'value', 'r', 0.5, %s, '{}', '{}')""",
                    (org, run, place, f"{run}/{place}", obs(org, older), obs(org, newer), draw.random()),
                )
    owner.execute(
        """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version, error, started_at,
             finished_at) values (%s, null, 'failed', '', 'it broke', %s, %s)""",
        (org, NOW, NOW),
    )


def plant_history(owner: Owner, seed: int, size: int = 60) -> None:
    """Weights that moved before and since the windows of the tests began, some to and some from below 0.2."""
    draw = random.Random(seed)  # noqa: S311 - a test's own choice
    with owner.transaction():
        for org in ORGS:
            for number in draw.sample(range(size), size // 2):
                for turn in range(draw.randrange(1, 4)):
                    at = NOW - timedelta(days=draw.randrange(60), hours=turn)
                    owner.execute(
                        """insert into observation_weight_history (org_id, project_id, observation_id, session_id,
                             outcome, previous_weight, new_weight, alpha, recorded_at)
                           values (%s, 'api', %s, 's0', 'rework', %s, %s, 0.15, %s)""",
                        (org, obs(org, number), draw.choice(NUMBERS[:6]), draw.choice(NUMBERS[:6]), at),
                    )


def plant_elsewhere(owner: Owner, seed: int, size: int = 60) -> None:
    """Retrievals by sessions of no project and of another one, which find every project's memory, also long ago."""
    draw = random.Random(seed)  # noqa: S311 - a test's own choice
    with owner.transaction():
        for org in ORGS:
            for number, days in enumerate((2, 4, 9, 20, 33, 50, 70, 88, 92, 150, 300)):
                retrieval = uuid5(sample.NAMESPACE, f"health/elsewhere/{org}/{number}")
                for place, each in enumerate(draw.sample(range(size), 3)):
                    owner.execute(
                        """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, project_id, query_text,
                             observation_id, relevance_score, feedback_weight, weighted_score, unweighted_rank,
                             weighted_rank, weighting_enabled, injected, created_at)
                           values (%s, %s, %s, %s, 'q', %s, 0.5, 1, 0.5, %s, %s, true, %s, %s)""",
                        (
                            org, retrieval, f"e{number}", draw.choice([None, "web"]), obs(org, each), place, place,
                            draw.choice([True, False]), NOW - timedelta(days=days) + timedelta(hours=3),
                        ),
                    )  # fmt: skip


def plant_triage(owner: Owner, seed: int) -> None:
    """A decision about most contradictions, of every kind there is."""
    draw = random.Random(seed)  # noqa: S311 - a test's own choice
    with owner.transaction():
        for org, fingerprint in owner.execute("select org_id, fingerprint from rankscope.contradictions").fetchall():
            decided = draw.choice(DECISIONS)
            if decided is not None:
                owner.execute(
                    """insert into rankscope.drift_triage (org_id, fingerprint, state, verdict, snoozed_until,
                         changed_by) values (%s, %s, %s, %s, now() + %s::interval, 'ann')""",
                    (org, fingerprint, *decided),
                )


def frames(owner: Owner, scope: Scope) -> dict[str, pd.DataFrame]:
    """Every table whole, cut to the scope's organization and project with pandas alone."""
    found = {}
    for table in TABLES:
        extra = ", vector_dims(embedding) as size" if table == "observation_embeddings" else ""
        cursor = owner.execute(f"select *{extra} from {table}")  # noqa: S608 - our own names
        names = [column.name for column in cursor.description or ()]
        rows = pd.DataFrame(cursor.fetchall(), columns=names).drop(columns=["embedding", "search"], errors="ignore")
        if scope.org is not None:
            rows = rows[rows["org_id"] == scope.org]
        if scope.project is not None and "project_id" in rows and table != "sessions":
            rows = rows[rows["project_id"] == scope.project]
        found[table.removeprefix("rankscope.")] = rows.reset_index(drop=True)
    return found


def inside(rows: pd.DataFrame, scope: Scope) -> pd.DataFrame:
    """The rows of the window."""
    return rows[(rows["created_at"] >= scope.since) & (rows["created_at"] < scope.until)]
