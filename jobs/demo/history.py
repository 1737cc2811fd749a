"""What would stand in the store had the demo's sessions really run: retrievals, ranks, injections, outcomes, weights.

Nothing is drawn at random. Sessions run one after the other; each retrieval sees the weights that all earlier outcomes
left behind.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from jobs.demo.relevance import relevances
from jobs.demo.texts import identity
from ranking.budget import context_budget, estimate_tokens, fitting
from ranking.candidates import Candidates
from ranking.feedback import FAILURE_RATE, SUCCESS_RATE, apply_feedback_ranking, is_misleading, update_weight

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from jobs.demo.texts import Observation, Organization, Session

Row = dict[str, object]

POOL = 20
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
    rows = Candidates(
        [o.id for _, o in recalled],
        relevance=[score for score, _ in recalled],
        weight=[weights[o.id] for _, o in recalled],
    )
    ranked = apply_feedback_ranking(rows, weighting_enabled=on)
    return [
        Candidate(recalled[place][1], recalled[place][0], weights[recalled[place][1].id], weighted, place, n)
        for n, (place, weighted) in enumerate(
            (place, float(ranked.weighted_score[place])) for place in ranked.order.tolist()
        )
    ]


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
        _learn(memory, session, session.outcome, list(given), end)


def _retrieve(memory: Memory, session: Session, query: str, at: datetime) -> list[UUID]:
    """Log one retrieval and return the ids that entered the session's context."""
    org, on = memory.org, memory.weighs(at)
    known = [o for o in org.observations if memory.now - o.age < at]
    candidates = rank(known, query, memory.weights, on=on)
    budget = context_budget(session.work_type)
    costs = estimate_tokens([candidate.observation.text for candidate in candidates])
    chosen = candidates[: fitting(costs, budget)]
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
            "tokens_used": int(costs[: len(chosen)].sum()),
            "candidates": len(candidates),
            "observation_ids": given,
        },
    )
    memory.accessed |= dict.fromkeys(given, at)
    return given


def _learn(memory: Memory, session: Session, outcome: str, given: list[UUID], at: datetime) -> None:
    """Move the weight of all that a session was given by its outcome, twice as far where it was misled.

    Only a failed session can have been misled: by what its diagnostics name, or by what three failed ones were given.
    """
    org = memory.org
    succeeded = outcome == "accepted"
    misled = []
    for observation in given:
        memory.failures[observation] += not succeeded
        misleads = not succeeded and is_misleading(
            named_by_diagnostics=observation in session.misleading, failed_sessions=memory.failures[observation]
        )
        alpha = (SUCCESS_RATE if succeeded else FAILURE_RATE) * (2 if misleads else 1)
        before = memory.weights[observation]
        after = update_weight(before, outcome, misleading=misleads)
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
