"""What agents wrote about the components of a project: one memory at a time, no two alike, each slot one value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import count, islice
from random import Random
from typing import TYPE_CHECKING, Any

from jobs.demo.grammar import one_of, readable, say
from jobs.demo.vocabulary import phrases, topics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jobs.demo.vocabulary import Component, Project, Topic

MISLEADING_EVERY, REFLECTION_EVERY = 14, 29
IMPORTANCE = {"bug_fix": 0.7, "feature": 0.5, "refactor": 0.5, "chore": 0.3, "other": 0.4}


@dataclass(frozen=True, slots=True)
class Memory:
    """One observation before anyone wrote it down: what it says, about what, and whether following it would help.

    ``key`` names it inside its organization. ``routes`` are the texts behind its vectors other than the full one.
    """

    key: str
    project: str
    about: str
    topic: str
    text: str
    tags: tuple[str, ...]
    title: str | None = None
    kind: str = "observation"
    depth: int = 0
    granularity: str = "observation"
    misleading: bool = False
    importance: float = 0.5
    routes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Voice:
    """Who speaks about a project: its people by name, and the table of facts that holds one value per slot."""

    project: Project
    people: Sequence[str]
    seed: str

    def words(self, component: Component, random: Random) -> dict[str, str]:
        """The slots of a component; which of its two data and operations comes first is drawn."""
        one, other = (0, 1) if random.random() < 0.5 else (1, 0)  # noqa: PLR2004 - a coin
        return {
            "component": component.name,
            "operation": component.operations[one],
            "operation2": component.operations[other],
            "data": component.data[one],
            "data2": component.data[other],
            "peer": component.peer,
            "file": component.file,
            "person": one_of(self.people, random),
        } | self.facts[component.name]

    @cached_property
    def facts(self) -> dict[str, dict[str, str]]:
        """By component, one value per slot whenever it is spoken of: nothing contradicts itself by accident."""
        drawn = {}
        for component in self.project.parts:
            random = Random(f"{self.seed}/{self.project.id}/{component.name}/facts")  # noqa: S311 - demo data
            drawn[component.name] = {slot: one_of(values, random) for slot, values in phrases().values.items()}
        return drawn


def ordinary(voice: Voice, random: Random, wanted: int) -> list[Memory]:
    """So many memories about the components: most helpful, some misleading, some reflections."""
    return list(islice(_endless(voice, random), wanted))


@dataclass(frozen=True, slots=True)
class Occasion:
    """Something to write about, and the words to do it with."""

    project: str
    key: str
    component: Component
    topic: Topic
    words: dict[str, str]

    def memory(self, text: str, **more: Any) -> Memory:  # noqa: ANN401 - the optional fields of a memory
        """What is written down."""
        return Memory(self.key, self.project, self.component.name, self.topic.name, text, self.topic.tags, **more)


def _endless(voice: Voice, random: Random) -> Iterator[Memory]:
    pairs = [(component, topic) for component in voice.project.parts for topic in topics()]
    place_of = {pair: place for place, pair in enumerate(pairs)}
    reflected: set[str] = set()
    number = count()
    for round_ in count():
        random.shuffle(pairs)
        for place, (component, topic) in enumerate(pairs):
            words = voice.words(component, random)
            occasion = Occasion(voice.project.id, f"{voice.project.id}/{next(number)}", component, topic, words)
            if place % MISLEADING_EVERY == MISLEADING_EVERY - 1:
                yield _misleading(occasion, random, round_)
            elif place % REFLECTION_EVERY == 0 and topic.name not in reflected:
                reflected.add(topic.name)
                yield _reflection(occasion, random)
            else:
                # each round says another thing about the same pair
                yield _helpful(occasion, random, round_ + place_of[component, topic])


def _helpful(occasion: Occasion, random: Random, turn: int) -> Memory:
    topic, said = occasion.topic, sentences(occasion.topic, random, occasion.words, turn)
    while True:
        text = say(one_of(phrases().frames, random), random, said)
        if readable(text):
            break
    title = say(one_of(phrases().title, random), random, occasion.words | {"topic": topic.name})
    routes = [("personal_info", said["person"])] if said["person"] in text else []
    routes += [("preferences", said["do"])] if topic.preference and said["do"] in text else []
    routes += [("events", said["what"])] if topic.event and said["what"] in text else []
    titled = random.random() < 0.4  # noqa: PLR2004 - agents seldom bother
    return occasion.memory(
        text, title=title if titled else None, importance=IMPORTANCE[topic.work], routes=tuple(routes)
    )


def sentences(topic: Topic, random: Random, words: dict[str, str], turn: int) -> dict[str, str]:
    """One sentence of each part of a topic; ``turn`` says which fact, everything else is drawn."""
    advice = int(random.random() * len(topic.do))
    return words | {
        "what": say(topic.what[turn % len(topic.what)], random, words),
        "why": say(one_of(topic.why, random), random, words),
        "do": say(topic.do[advice], random, words),
        "do2": say(topic.do[advice - 1], random, words),
        "opening": say(one_of(phrases().opening, random), random, words),
        "person": say(one_of(phrases().person, random), random, words),
    }


def _misleading(occasion: Occasion, random: Random, turn: int) -> Memory:
    advice = occasion.topic.misleading
    text = say(advice[turn % len(advice)], random, occasion.words)
    if random.random() < 0.3:  # noqa: PLR2004 - some say where they have it from
        text = f"{say(one_of(phrases().opening, random), random, occasion.words)} {text}"
    return occasion.memory(text, misleading=True)


def _reflection(occasion: Occasion, random: Random) -> Memory:
    text = say(one_of(occasion.topic.reflection, random), random, occasion.words)
    depth = 1 + int(random.random() * random.random() * 3)
    return occasion.memory(text, title=f"On {occasion.topic.name}", kind="reflection", depth=depth, importance=0.8)
