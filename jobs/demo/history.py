"""What the sessions of an organization did to its memory: retrievals, ranks, injections, outcomes, weights.

Nothing is drawn at random. Retrievals and endings of sessions run in the order of their times; each retrieval sees the
weights that all earlier endings left behind.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from jobs.demo.outcomes import Verdict, judge
from jobs.demo.recall import Recalled, moment, recall
from jobs.demo.voices import Voices
from ranking.budget import context_budget, estimate_tokens, fitting
from ranking.corroboration import corroboration_boost
from ranking.feedback import FAILURE_RATE, SUCCESS_RATE, is_misleading, update_weight, weighted_scores
from ranking.order import ranks, stable_order

if TYPE_CHECKING:
    from datetime import datetime

    from jobs.demo.recall import Rows
    from jobs.demo.story import Story
    from jobs.demo.timeline import Session
    from jobs.demo.vectors import Vectors
    from ranking.candidates import Scores

FIRST_RETRIEVAL, BETWEEN_RETRIEVALS = timedelta(minutes=3), timedelta(minutes=7)


@dataclass(frozen=True, eq=False, slots=True)
class Retrieval:
    """One retrieval as it is logged: aligned columns in order of relevance, and how many of the best were injected."""

    recalled: Recalled
    enabled: bool
    boost: Scores | None
    weight: Scores
    weighted: Scores
    unweighted_rank: Rows
    weighted_rank: Rows
    order: Rows
    injected: int
    budget: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Change:
    """One step of a weight."""

    row: int
    session: Session
    outcome: str
    before: float
    after: float
    alpha: float


@dataclass(frozen=True, slots=True)
class Ending:
    """How a session ended, what it had been given, and what of that helped or misled."""

    session: Session
    outcome: str
    given: tuple[int, ...]
    helpful: tuple[int, ...]
    misled: tuple[int, ...]


@dataclass
class History:
    """Everything an organization's sessions left behind; rows are places among the story's memories."""

    story: Story
    weights: Scores
    failures: Rows
    successes: Rows
    accessed: dict[int, datetime] = field(default_factory=dict)
    retrievals: list[Retrieval] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    endings: dict[str, Ending] = field(default_factory=dict)


def replay(story: Story, vectors: Vectors) -> History:
    """Run every session of the story over its memories and their full vectors."""
    count = len(story.placed)
    history = History(story, np.ones(count), np.zeros(count, np.intp), np.zeros(count, np.intp))
    if not story.sessions:
        return history
    created = np.array([moment(entry.created) for entry in story.placed], dtype=np.int64)
    projects = np.array([entry.memory.project for entry in story.placed], dtype=np.object_)
    asked = [
        (session, query, session.begin + FIRST_RETRIEVAL + n * BETWEEN_RETRIEVALS)
        for session in story.sessions
        for n, query in enumerate(session.queries)
    ]
    asked = [question for question in asked if question[2] < story.now and not in_gap(story, question[2])]
    steps: list[tuple[datetime, int, Recalled | Session]] = [
        (found.at, 0, found) for found in recall(asked, projects, created, vectors)
    ]
    steps += [(session.end, 1, session) for session in story.sessions if not session.runs]
    run = _Run(history, created)
    for at, _, step in sorted(steps, key=lambda step: (step[0], step[1], _name(step[2]))):
        if isinstance(step, Recalled):
            run.retrieve(step)
        else:
            run.end(step, at)
    return history


def weighs(story: Story, at: datetime) -> bool:
    """Whether the organization's flag lets weights count at a moment."""
    since = story.org.weighting_off
    return since is None or at < story.now - since


def in_gap(story: Story, at: datetime) -> bool:
    """Whether the organization's memory was down."""
    gap = story.org.gap
    return gap is not None and story.now - gap[0] <= at < story.now - gap[1]


def _name(step: Recalled | Session) -> str:
    return f"{step.session.id}/{step.query}" if isinstance(step, Recalled) else step.id


class _Run:
    """The state of the replay: what each running session was given so far, and since when a memory is outdated."""

    def __init__(self, history: History, created: Rows) -> None:
        self.history, self.story = history, history.story
        self.given: dict[str, dict[int, None]] = defaultdict(dict)
        self.costs = estimate_tokens([entry.memory.text for entry in self.story.placed])
        self.voices = Voices(self.story, created) if self.story.org.corroborates else None
        row_of = {entry.memory.key: row for row, entry in enumerate(self.story.placed)}
        self.outdated = {
            row_of[pair.older.key]: self.story.placed[row_of[pair.newer.key]].created
            for pair in self.story.contradictions
            if pair.older.key in row_of and pair.newer.key in row_of
        }

    def retrieve(self, found: Recalled) -> None:
        history, on = self.history, weighs(self.story, found.at)
        boost = corroboration_boost(self.voices.corroborating(found.rows, found.at)) if self.voices else None
        # the boost stands in front of feedback, so the order without weights has it too
        base = found.relevance if boost is None else found.relevance + boost
        weight = history.weights[found.rows]
        weighted = weighted_scores(base, weight) if on else base
        order = stable_order(weighted)
        budget = context_budget(found.session.work_type)
        costs = self.costs[found.rows[order]]
        injected = fitting(costs, budget)
        chosen = found.rows[order[:injected]].tolist()
        self.given[found.session.id] |= dict.fromkeys(chosen)
        history.accessed |= dict.fromkeys(chosen, found.at)
        both, spent = (ranks(base), ranks(weighted)), int(costs[:injected].sum())
        history.retrievals.append(Retrieval(found, on, boost, weight, weighted, *both, order, injected, budget, spent))

    def end(self, session: Session, at: datetime) -> None:
        given = tuple(self.given.pop(session.id, ()))
        verdict = self._verdict(session, given, at)
        misled = self._learn(session, verdict, given)
        helpful = tuple(given[place] for place in verdict.helpful)
        self.history.endings[session.id] = Ending(session, verdict.outcome, given, helpful, misled)

    def _verdict(self, session: Session, given: tuple[int, ...], at: datetime) -> Verdict:
        placed = self.story.placed
        if session.written:
            named = tuple(n for n, row in enumerate(given) if placed[row].id in session.misleading)
            return Verdict(session.outcome or "rework", (0, 1)[: len(given)] if not named else (), named)
        memories = [placed[row].memory for row in given]
        about, topic = (
            [getattr(m, name) == getattr(session.task, name) for m in memories] for name in ("about", "topic")
        )
        on_task, related = ([test(pair) for pair in zip(about, topic, strict=True)] for test in (all, any))
        wrong = [
            m.misleading or (row in self.outdated and self.outdated[row] < at)
            for row, m in zip(given, memories, strict=True)
        ]
        return judge(on_task, related, wrong)

    def _learn(self, session: Session, verdict: Verdict, given: tuple[int, ...]) -> tuple[int, ...]:
        """Move the weight of all that a session was given by its outcome, twice as far where it was misled.

        Only a failed session can have been misled: by what its diagnostics name, or by what three failed ones had.
        """
        history, succeeded = self.history, verdict.outcome == "accepted"
        named = {given[place] for place in verdict.misleading}
        misled = []
        for row in given:
            history.failures[row] += not succeeded
            history.successes[row] += succeeded
            misleads = not succeeded and is_misleading(
                named_by_diagnostics=row in named, failed_sessions=int(history.failures[row])
            )
            before = float(history.weights[row])
            after = update_weight(before, verdict.outcome, misleading=misleads)
            alpha = (SUCCESS_RATE if succeeded else FAILURE_RATE) * (2 if misleads else 1)
            history.weights[row] = after
            history.changes.append(Change(row, session, verdict.outcome, before, after, alpha))
            misled += [row] if misleads else []
        return tuple(misled)
