"""What would stand in the store had the demo's sessions really run: retrievals, ranks, injections, outcomes, weights.

Nothing is drawn at random. Sessions run one after the other; each retrieval sees the weights that all earlier outcomes
left behind.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from jobs.demo.relevance import relevances
from jobs.demo.texts import identity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from jobs.demo.texts import Observation, Organization, Session

Row = dict[str, object]

POOL = 20
BUDGETS = {"bug_fix": 750, "feature": 400, "refactor": 600, "chore": 300}
OTHER_BUDGET = 500
SUCCESS_ALPHA, FAILURE_ALPHA = 0.1, 0.15
TOO_MANY_FAILURES = 3
BETWEEN_RETRIEVALS = timedelta(minutes=7)
SESSION_LENGTH = timedelta(minutes=50)
HELPFUL = 2  # of what an accepted session was given first


@dataclass(frozen=True)
class Candidate:
    """One observation in one retrieval, with both of its ranks from 0."""

    observation: Observation
    relevance: float
    weight: float
    weighted: float
    unweighted_rank: int
    weighted_rank: int


@dataclass
class Memory:
    """What an organization's store holds while its sessions run, and the rows written so far, by table."""

    org: Organization
    now: datetime
    weights: dict[UUID, float]
    failures: dict[UUID, int]
    accessed: dict[UUID, datetime] = field(default_factory=dict)
    rows: dict[str, list[Row]] = field(default_factory=dict)

    def write(self, table: str, row: Row) -> None:
        """Append a row to a table."""
        self.rows.setdefault(table, []).append(row)

    def weighs(self, at: datetime) -> bool:
        """Whether the organization's flag lets weights count at a moment."""
        disabled = self.org.features.get("feedback_weighting_disabled", False)
        since = self.org.age if self.org.weighting_off is None else self.org.weighting_off
        return not disabled or at < self.now - since

    def loses(self, session: Session, rank: int) -> bool:
        """Whether the log row of this rank never arrives."""
        lost = self.org.lost_row
        return lost is not None and self.org.sessions[lost.session] is session and rank == lost.rank


def history(org: Organization, now: datetime) -> dict[str, list[Row]]:
    """Every row of one organization, by table; the same for the same ``now``."""
    memory = Memory(org, now, {o.id: 1.0 for o in org.observations}, {o.id: 0 for o in org.observations})
    memory.write("organizations", _organization_row(org, now))
    for project, name in org.projects:
        memory.write("projects", {"org_id": org.id, "id": project, "name": name, "created_at": now - org.age})
    for session in org.sessions:
        _run(memory, session)
    if org.weighting_off is not None:
        memory.write("flag_changes", _flag_row(org, now - org.weighting_off))
    for observation in org.observations:
        memory.write("observations", _observation_row(memory, observation))
    return memory.rows


def rank(observations: Sequence[Observation], query: str, weights: dict[UUID, float], *, on: bool) -> list[Candidate]:
    """At most 20 observations by cosine, then id, as candidates in their weighted order; ties keep the first order."""
    scores = relevances(query, [f"{o.title or ''} {o.text}" for o in observations])
    recalled = sorted(
        ((score, o) for score, o in zip(scores, observations, strict=True) if score > 0),
        key=lambda pair: (-pair[0], pair[1].id),
    )[:POOL]
    weighted = [score * weights[o.id] if on else score for score, o in recalled]
    order = sorted(range(len(recalled)), key=lambda place: -weighted[place])
    return [
        Candidate(recalled[place][1], recalled[place][0], weights[recalled[place][1].id], weighted[place], place, n)
        for n, place in enumerate(order)
    ]


def tokens(text: str) -> int:
    """What a text costs of a budget: a quarter of its characters, rounded up."""
    return math.ceil(len(text) / 4)


def fitting(candidates: Sequence[Candidate], budget: int) -> list[Candidate]:
    """The candidates in order until the first that does not fit; the very first always is in."""
    chosen: list[Candidate] = []
    left = budget
    for candidate in candidates:
        left -= tokens(candidate.observation.text)
        if chosen and left < 0:
            break
        chosen.append(candidate)
    return chosen


def _run(memory: Memory, session: Session) -> None:
    begin = memory.now - session.age
    end = begin + SESSION_LENGTH if session.outcome else None
    memory.write(
        "sessions",
        {
            "org_id": memory.org.id,
            "id": session.id,
            "project_id": session.project,
            "agent_id": session.agent,
            "work_type": session.work_type,
            "outcome": session.outcome,
            "created_at": begin,
            "ended_at": end,
        },
    )
    given: dict[UUID, None] = {}  # in the order they were given
    for n, query in enumerate(session.queries, start=1):
        given |= dict.fromkeys(_retrieve(memory, session, query, begin + n * BETWEEN_RETRIEVALS))
    if session.outcome and end:
        _learn(memory, session, list(given), end)


def _retrieve(memory: Memory, session: Session, query: str, at: datetime) -> list[UUID]:
    """Log one retrieval and return the ids that entered the session's context."""
    org, on = memory.org, memory.weighs(at)
    known = [o for o in org.observations if memory.now - o.age < at]
    candidates = rank(known, query, memory.weights, on=on)
    budget = BUDGETS.get(session.work_type, OTHER_BUDGET)
    chosen = fitting(candidates, budget)
    given = [candidate.observation.id for candidate in chosen]
    retrieval = identity(org.id, session.id, "retrieval", query)
    shared: Row = {
        "org_id": org.id,
        "retrieval_id": retrieval,
        "session_id": session.id,
        "project_id": session.project,
        "created_at": at,
    }
    for candidate in candidates:
        if memory.loses(session, candidate.weighted_rank):
            continue
        memory.write(
            "retrieval_ab_logs",
            shared
            | {
                "query_text": query,
                "observation_id": candidate.observation.id,
                "relevance_score": candidate.relevance,
                "feedback_weight": candidate.weight,
                "weighted_score": candidate.weighted,
                "unweighted_rank": candidate.unweighted_rank,
                "weighted_rank": candidate.weighted_rank,
                "weighting_enabled": on,
                "injected": candidate.weighted_rank < len(chosen),
                "pipeline": "LIVE",
            },
        )
    memory.write(
        "context_injection_logs",
        shared
        | {
            "work_type": session.work_type,
            "token_budget": budget,
            "tokens_used": sum(tokens(candidate.observation.text) for candidate in chosen),
            "candidates": len(candidates),
            "observation_ids": given,
        },
    )
    memory.accessed |= dict.fromkeys(given, at)
    return given


def _learn(memory: Memory, session: Session, given: list[UUID], at: datetime) -> None:
    """Move the weight of all that a session was given to ``w·(1 - alpha) + signal·alpha``; misled doubles alpha.

    Only a failed session can have been misled: by what its diagnostics name, or by what three failed ones were given.
    """
    org = memory.org
    succeeded = session.outcome == "accepted"
    misled = []
    for observation in given:
        memory.failures[observation] += not succeeded
        misleads = not succeeded and (
            observation in session.misleading or memory.failures[observation] >= TOO_MANY_FAILURES
        )
        alpha = (SUCCESS_ALPHA if succeeded else FAILURE_ALPHA) * (2 if misleads else 1)
        before = memory.weights[observation]
        after = before * (1 - alpha) + (alpha if succeeded else 0.0)
        memory.weights[observation] = after
        misled += [observation] if misleads else []
        memory.write(
            "observation_weight_history",
            {
                "org_id": org.id,
                "project_id": session.project,
                "observation_id": observation,
                "session_id": session.id,
                "outcome": session.outcome,
                "previous_weight": before,
                "new_weight": after,
                "alpha": alpha,
                "recorded_at": at,
            },
        )
    memory.write(
        "session_diagnostics",
        {
            "org_id": org.id,
            "session_id": session.id,
            "outcome": session.outcome,
            "injected_observation_ids": given,
            "helpful_observation_ids": given[:HELPFUL] if succeeded else [],
            "misleading_observation_ids": misled,
            "failure_category": None if succeeded else "misleading memory" if misled else "other",
            "created_at": at,
        },
    )


def _organization_row(org: Organization, now: datetime) -> Row:
    return {"id": org.id, "name": org.name, "features": org.features, "created_at": now - org.age}


def _observation_row(memory: Memory, observation: Observation) -> Row:
    org, now = memory.org, memory.now
    created = now - observation.age
    author = [s.id for s in org.sessions if s.project == observation.project and now - s.age <= created]
    return {
        "org_id": org.id,
        "id": observation.id,
        "project_id": observation.project,
        "agent_id": observation.agent,
        "session_id": author[-1] if author else None,
        "kind": observation.kind,
        "reflection_depth": observation.depth,
        "title": observation.title,
        "content": observation.text,
        "content_hash": hashlib.sha256(observation.text.encode()).hexdigest(),
        "source": "agent",
        "weight": memory.weights[observation.id],
        "tags": list(observation.tags),
        "task_tag": observation.tags[0],
        "created_at": created,
        "last_accessed_at": memory.accessed.get(observation.id),
    }


def _flag_row(org: Organization, at: datetime) -> Row:
    return {
        "org_id": org.id,
        "request_id": identity(org.id, "flag", "feedback_weighting_disabled"),
        "flag": "feedback_weighting_disabled",
        "old_state": "absent",
        "new_state": "true",
        "reason": org.weighting_off_reason,
        "actor": "demo",
        "source": "demo",
        "changed_at": at,
    }
