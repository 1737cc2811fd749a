"""When what happened: sessions over ninety days, each with a task, and what was written down in them."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING

from jobs.demo.grammar import one_of, say
from jobs.demo.vocabulary import project as project_words
from jobs.demo.vocabulary import topics

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from jobs.demo.texts import Organization
    from jobs.demo.writing import Memory, Voice

WINDOW = 90.0
OLDEST = 150.0  # days: what was written before the window has no session
EARLIER = 0.22  # the share of it
HARD = 0.45  # of the sessions meet a problem about which something wrong is remembered
HARD_PER_PROJECT = 12
WEEKEND = 0.15
SUBJECT_QUERIES = (
    "what is true of the {subject} today", "how does the {subject} behave and who set it up that way",
    "current setting of the {subject}", "change the {subject} without surprises, what do we know about it",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Task:
    """What a session works on; an observation is about the same task if both agree."""

    about: str
    topic: str


@dataclass(frozen=True, slots=True)
class Session:
    """One piece of work; ``outcome`` and ``misleading`` are set where it was written by hand."""

    id: str
    project: str
    agent: str
    task: Task
    work_type: str
    begin: datetime
    end: datetime
    queries: tuple[str, ...]
    runs: bool = False
    written: bool = False
    outcome: str | None = None
    misleading: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True)
class Placed:
    """A memory with who wrote it down, when, and in which session."""

    id: UUID
    memory: Memory
    agent: str
    session: str | None
    created: datetime


class Timeline:
    """The sessions of one organization in the order they began, and a place for every memory."""

    def __init__(self, org: Organization, sessions: Sequence[Session], now: datetime, random: Random) -> None:
        self.org, self.now, self.random = org, now, random
        self.sessions = sessions
        self._by_place: dict[tuple[str, str | None], list[Session]] = defaultdict(list)
        for session in sessions:
            for about in (session.task.about, session.agent, None):
                self._by_place[session.project, about].append(session)

    def moment(
        self, memory: Memory, days: tuple[float, float] | None = None, agent: str | None = None
    ) -> tuple[str, str | None, datetime]:
        """Agent, session and time of writing: in a session about the same thing, or of the agent, or in none."""
        newest, oldest = days or (0.0, WINDOW)
        session = None
        if days is not None or self.random.random() >= EARLIER:
            session = self._session(memory, newest, oldest, agent)
        elif agent is None:
            newest, oldest = WINDOW + 0.5, OLDEST
        if session is not None:
            into = 0.1 + 0.8 * self.random.random()
            written = session.begin + into * (min(session.end, self.now) - session.begin)
            return session.agent, session.id, written
        age = newest + self.random.random() * (oldest - newest)
        return agent or one_of(self.org.agents, self.random), None, self.now - timedelta(days=age)

    def _session(self, memory: Memory, newest: float, oldest: float, agent: str | None) -> Session | None:
        """A session of the right time, if it is drawn; what was written before the window is in none."""
        if newest + self.random.random() * (oldest - newest) > WINDOW:
            return None
        after, before = self.now - timedelta(days=oldest), self.now - timedelta(days=newest)
        for place in (agent,) if agent else (memory.about, None):
            found = self._by_place.get((memory.project, place), [])
            first, last = (bisect_left(found, at, key=lambda session: session.begin) for at in (after, before))
            if first < last:
                return found[first + int(self.random.random() * (last - first))]
        return None


def tasks(voice: Voice, memories: Iterable[Memory], troubled: Sequence[Memory], random: Random) -> list[list[Task]]:
    """What sessions of a project may work on: problems about which something wrong is remembered, then the rest."""
    known = {(memory.about, memory.topic) for memory in memories if memory.granularity == "observation"}
    components = {component.name for component in voice.project.parts}
    rest = sorted(pair for pair in known if pair[0] in components)
    hard = sorted({(memory.about, memory.topic) for memory in troubled})
    random.shuffle(hard)
    return [[Task(*pair) for pair in pairs] for pairs in (hard[:HARD_PER_PROJECT], rest)]


def sessions(
    org: Organization, choices: dict[str, list[list[Task]]], wanted: int, now: datetime, seed: str
) -> list[Session]:
    """So many sessions in the order they began: busier lately, on working days, and by day."""
    # two sources: how many draws a beginning takes depends on the calendar, what is said must not
    clock, random = (Random(f"{seed}/{org.id}/{name}") for name in ("beginnings", "sessions"))  # noqa: S311 - demo data
    projects = [project for project, _ in org.projects]
    begun = sorted(_begins(now, clock) for _ in range(wanted))
    return [
        _session(org, one_of(projects, random), choices, begin, now, random, number)
        for number, begin in enumerate(begun, start=1)
    ]


def _begins(now: datetime, random: Random) -> datetime:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    while True:
        day = today - timedelta(days=int(WINDOW * random.random() ** 1.15))
        begin = day + timedelta(hours=random.triangular(6.5, 20.5, 10.5))
        idle = random.random() >= WEEKEND
        # a Saturday keeps a few sessions, and what has not happened yet is drawn again
        if not (idle and day.weekday() >= 5) and begin < now - timedelta(minutes=4):  # noqa: PLR2004 - Saturday
            return begin


def _session(  # noqa: PLR0917
    org: Organization, project: str, choices: dict[str, list[list[Task]]], begin: datetime, now: datetime,
    random: Random, number: int,
) -> Session:  # fmt: skip
    hard, rest = choices[project]
    task = one_of(hard, random) if hard and random.random() < HARD else one_of(rest, random)
    topic = next((topic for topic in topics() if topic.name == task.topic), None)
    length = timedelta(minutes=25 + 70 * random.random())
    asked = 1 + (random.random() < 0.85) + (random.random() < 0.5)  # noqa: PLR2004 - 1.9 different ones
    return Session(
        id=f"ses_{org.id.removeprefix('org_')}_{number:04}",
        project=project,
        agent=one_of(org.agents, random),
        task=task,
        work_type=topic.work if topic else one_of(("chore", "bug_fix", "feature", "refactor"), random),
        begin=begin,
        end=begin + length,
        queries=tuple(dict.fromkeys(_query(project, task, random) for _ in range(asked))),
        runs=begin + length > now,
    )


def _query(project: str, task: Task, random: Random) -> str:
    topic = next((topic for topic in topics() if topic.name == task.topic), None)
    if topic is None:
        said = say(one_of(SUBJECT_QUERIES, random), random, {"subject": task.about})
        return said[:1].lower() + said[1:]
    component = next(c for c in project_words(project).parts if c.name == task.about)
    one, other = (0, 1) if random.random() < 0.5 else (1, 0)  # noqa: PLR2004 - a coin
    words = {
        "component": component.name, "operation": component.operations[one], "operation2": component.operations[other],
        "data": component.data[one], "data2": component.data[other], "peer": component.peer, "file": component.file,
    }  # fmt: skip
    said = say(one_of(topic.query, random), random, words)
    return said[:1].lower() + said[1:]
