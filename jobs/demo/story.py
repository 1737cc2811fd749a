"""One organization's past before any memory was asked for: who wrote what and when, and what was planted in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

from jobs.demo.conversations import TURNS, conversation
from jobs.demo.families import Family, alike, dispute, families
from jobs.demo.planted import Pair, Subjects, contradictions, disputed, traps
from jobs.demo.texts import identity
from jobs.demo.timeline import Placed, Session, Task, Timeline, sessions, tasks
from jobs.demo.vocabulary import project as project_words
from jobs.demo.writing import Memory, Voice, ordinary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime
    from uuid import UUID

    from jobs.demo.sizes import Size
    from jobs.demo.texts import Organization

CONVERSATIONS = 0.05  # of a project's observations are summaries of one
OLDER, NEWER = (55.0, 150.0), (6.0, 50.0)  # days: when the two sides of a planted pair were written
SPREAD = (4.0, 140.0)  # when members of a family were
SESSION_LENGTH = timedelta(minutes=50)


@dataclass(frozen=True)
class Plot:
    """What one project's memories say, and which of them were planted."""

    voice: Voice
    memories: tuple[Memory, ...]
    families: tuple[Family, ...] = ()
    contradictions: tuple[Pair, ...] = ()
    traps: tuple[Pair, ...] = ()


@dataclass(frozen=True)
class Story:
    """Everything that exists of an organization before its retrievals are computed; memories in order of their ids."""

    org: Organization
    now: datetime
    sessions: tuple[Session, ...]
    placed: tuple[Placed, ...]
    families: tuple[Family, ...]
    contradictions: tuple[Pair, ...]
    traps: tuple[Pair, ...]

    def id(self, memory: Memory) -> UUID:
        """The id a memory is stored under."""
        return identity(self.org.id, "observation", memory.key)


def tell(org: Organization, size: Size, now: datetime, seed: str) -> Story:
    """The story of one organization; what it says depends on the seed alone, when it was said on ``now`` as well."""
    part = org.share
    plots = [_plot(org, project, size, seed, turn) for turn, (project, _) in enumerate(org.projects) if part]
    random = Random(f"{seed}/{org.id}/places")  # noqa: S311 - demo data
    choices = {plot.voice.project.id: _tasks(plot, random) for plot in plots}
    begun = sessions(org, choices, round(size.sessions * part), now, seed) if part else _by_hand(org, now)
    timeline = Timeline(org, begun, now, random)
    placed = _by_hand_placed(org, begun, now)
    for plot in plots:
        placed += _placed(org, plot, timeline, round(_wanted(org, size) * CONVERSATIONS), seed)
    written = {entry.memory.key: entry for entry in org.written}
    by_hand = [
        Pair(entry.outdated[1], entry.memory, written[entry.outdated[0]].memory)
        for entry in org.written
        if entry.outdated
    ]
    grown = [family for plot in plots for family in plot.families]
    clear, found = (placed, grown) if size.copies else _apart(placed, grown)
    return Story(
        org=org,
        now=now,
        sessions=tuple(begun),
        placed=tuple(sorted(clear, key=lambda entry: entry.id)),
        families=tuple(found),
        contradictions=tuple(pair for plot in plots for pair in plot.contradictions) + tuple(by_hand),
        traps=tuple(pair for plot in plots for pair in plot.traps),
    )


def _plot(org: Organization, project: str, size: Size, seed: str, turn: int) -> Plot:
    random = Random(f"{seed}/{org.id}/{project}/texts")  # noqa: S311 - demo data
    voice = Voice(project_words(project), org.people, f"{seed}/{org.id}")
    turn += int(org.share * 100)  # organizations go through the templates from different places
    wanted = _wanted(org, size)
    subjects = Subjects(voice, random)
    opposed = list(contradictions(subjects, random, size.contradictions, turn))
    same = list(traps(subjects, random, size.traps, turn))
    angry = [dispute(pair, random) for pair in (disputed(subjects, random, turn + n) for n in range(2))]
    quarrels = [family for family in angry if family is not None]
    planted = [memory for pair in opposed + same for memory in (pair.older, pair.newer)]
    planted += [memory for family in quarrels for memory in family.members]
    spare = len(planted) + round(wanted * CONVERSATIONS) * (TURNS + 1) + 3 * size.families
    memories = ordinary(voice, random, max(20, round(wanted) - spare))
    helpful = [memory for memory in memories if not memory.misleading and memory.kind == "observation"]
    grown = families(random.sample(helpful, len(helpful)), random, size.families)
    repeated = [memory for family in grown for memory in family.members[1:]]
    return Plot(
        voice,
        (*memories, *planted, *repeated),
        families=(*grown, *quarrels),
        contradictions=(*opposed, *(pair for family in quarrels for pair in _sides(family))),
        traps=tuple(same),
    )


def _sides(family: Family) -> Iterator[Pair]:
    """The contradictions inside a disputed family: whoever repeats the older side contradicts the newer as well."""
    older, newer, *again = family.members
    yield from (Pair("opposition", memory, newer) for memory in (older, *again))


def _wanted(org: Organization, size: Size) -> float:
    return size.observations * org.share / max(1, len(org.projects))


def _tasks(plot: Plot, random: Random) -> list[list[Task]]:
    wrong = [memory for memory in plot.memories if memory.misleading] + [pair.older for pair in plot.contradictions]
    return tasks(plot.voice, plot.memories, wrong, random)


def _placed(org: Organization, plot: Plot, timeline: Timeline, talks: int, seed: str) -> list[Placed]:
    random = Random(f"{seed}/{org.id}/{plot.voice.project.id}/talks")  # noqa: S311 - demo data
    sides = {pair.older.key: OLDER for pair in plot.contradictions + plot.traps}
    sides |= {pair.newer.key: NEWER for pair in plot.contradictions + plot.traps}
    authors = _authors(org, plot.families, random)
    placed = []
    for memory in plot.memories:
        agent = authors.get(memory.key)
        days = sides.get(memory.key, SPREAD if agent else None)
        placed.append(
            Placed(identity(org.id, "observation", memory.key), memory, *timeline.moment(memory, days, agent))
        )
    ended = [session for session in timeline.sessions if session.project == plot.voice.project.id and not session.runs]
    for session in random.sample(ended, min(talks, len(ended))):
        said = conversation(plot.voice, session, random)
        for number, memory in enumerate(said, start=1):
            at = session.begin + number * (session.end - session.begin) / len(said)
            placed.append(Placed(identity(org.id, "observation", memory.key), memory, session.agent, session.id, at))
    return placed


def _authors(org: Organization, grown: Iterable[Family], random: Random) -> dict[str, str]:
    """Who wrote which member of a family: one agent all of them, or as many agents as there are."""
    authors = {}
    for family in grown:
        agents = random.sample(org.agents, len(org.agents))
        for number, memory in enumerate(family.members):
            authors[memory.key] = agents[0] if family.kind == "one_agent" else agents[number % len(agents)]
    return authors


def _apart(placed: Sequence[Placed], grown: Sequence[Family]) -> tuple[list[Placed], list[Family]]:
    """The memories without those that repeat another's words by accident, and the families with pairs made by hand.

    Alike by their words, not by Rankscope's hash: what only looks alike to the hash stays, and counts against it.
    """
    family_of = {memory.key for family in grown for memory in family.members}
    dropped: set[str] = set()
    found = list(grown)
    for project in sorted({entry.memory.project for entry in placed}):
        memories = [entry.memory for entry in placed if entry.memory.project == project]
        for one, other in alike([memory.text for memory in memories]):
            first, second = memories[one], memories[other]
            if first.key in dropped or second.key in dropped or {first.key, second.key} <= family_of:
                continue
            if _on_purpose(first) and _on_purpose(second):
                found.append(Family("restated", (first, second)))
            else:
                # what was planted stays: the truth names it
                planted = second.key in family_of or _on_purpose(second)
                dropped.add((first if planted else second).key)
    return [entry for entry in placed if entry.memory.key not in dropped], found


def _on_purpose(memory: Memory) -> bool:
    """Whether it was written by hand or planted; keys of the others hold a path that ends in a number or a turn."""
    return "/" not in memory.key or memory.key.endswith(("/older", "/newer"))


def _by_hand(org: Organization, now: datetime) -> list[Session]:
    return [
        Session(
            entry.id, entry.project, entry.agent, Task("", ""), entry.work_type, now - entry.age,
            now - entry.age + SESSION_LENGTH, entry.queries, runs=entry.outcome is None, written=True,
            outcome=entry.outcome,
            misleading=frozenset(identity(org.id, "observation", key) for key in entry.misleading),
        )
        for entry in org.sessions
    ]  # fmt: skip


def _by_hand_placed(org: Organization, begun: Sequence[Session], now: datetime) -> list[Placed]:
    placed = []
    for entry in org.written:
        created = now - entry.age
        author = [s.id for s in begun if s.project == entry.memory.project and s.begin <= created]
        id_ = identity(org.id, "observation", entry.memory.key)
        placed.append(Placed(id_, entry.memory, entry.agent, author[-1] if author else None, created))
    return placed
