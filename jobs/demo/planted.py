"""What is planted on purpose, with its truth: contradictions of every kind, and restatements that look like one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from jobs.demo.grammar import one_of, readable, say
from jobs.demo.vocabulary import read
from jobs.demo.writing import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from jobs.demo.writing import Voice

KINDS = ("value", "opposition", "negation", "superseded")
TRAPS = ("clock", "numeral", "unit", "word_order", "tense", "detail", "environment", "plan")


@dataclass(frozen=True)
class Pair:
    """Two memories about one thing, the older first: a contradiction of some kind, or a trap of some kind."""

    kind: str
    older: Memory
    newer: Memory


class Subjects:
    """Names of things that nothing else in the project speaks of, each handed out once."""

    def __init__(self, voice: Voice, random: Random) -> None:
        self.voice = voice
        roles = list(data()["role"]["names"])
        nouns = list(voice.project.subjects)
        random.shuffle(roles)
        random.shuffle(nouns)
        self._names = [f"{noun} {role}" for noun, role in zip(nouns, roles, strict=True)]

    def words(self, random: Random) -> dict[str, str]:
        """A fresh subject, and the data and the peer of some component to go with it."""
        component = one_of(self.voice.project.parts, random)
        return self.voice.words(component, random) | {"subject": self._names.pop()}


@cache
def data() -> dict[str, Any]:
    """The templates of everything planted."""
    return read("planted")


def contradictions(subjects: Subjects, random: Random, per_kind: int, turn: int) -> Iterator[Pair]:
    """So many pairs of every kind; ``turn`` makes one project go on in the templates where another stopped."""
    for kind in KINDS:
        templates = data()["contradiction"][kind]
        for number in range(per_kind):
            template = templates[(turn * per_kind + number) % len(templates)]
            words = subjects.words(random)
            if "pairs" in template:
                words |= dict(zip("ab", template["pairs"][turn % len(template["pairs"])], strict=True))
            said = [say(template[side], random, words) for side in ("older", "newer")]
            yield _pair(subjects, random, kind, words["subject"], said)


def traps(subjects: Subjects, random: Random, wanted: int, turn: int) -> Iterator[Pair]:
    """So many pairs that say the same in other words, speak of two places, or first plan and then report."""
    for number in range(wanted):
        kind = TRAPS[(turn * wanted + number) % len(TRAPS)]
        templates = data()["trap"][kind]
        words = subjects.words(random)
        said = [say(side, random, words) for side in templates[turn % len(templates)]]
        yield _pair(subjects, random, kind, words["subject"], said)


def disputed(subjects: Subjects, random: Random, turn: int) -> Pair:
    """A contradiction inside two long texts that differ in one word."""
    templates = data()["contradiction"]["opposition"]
    template = templates[turn % len(templates)]
    words = subjects.words(random)
    rest = say(one_of(data()["tail"]["long"], random), random, words)
    said = [f"{say(template[side], random, words)} {rest}." for side in ("older", "newer")]
    return _pair(subjects, random, "opposition", words["subject"], said)


def _pair(subjects: Subjects, random: Random, kind: str, subject: str, said: list[str]) -> Pair:
    tails = list(data()["tail"]["short"])
    random.shuffle(tails)
    project = subjects.voice.project.id
    sides = []
    for side, text, tail in zip(("older", "newer"), said, tails, strict=False):
        # a short statement needs company to read like a memory, a long one gets it now and then
        alone = readable(text) and random.random() < 0.5  # noqa: PLR2004 - a coin
        full = text if alone or len(text.split()) > 30 else f"{text} {say(tail, random, {})}"  # noqa: PLR2004 - words
        sides.append(
            Memory(f"{project}/{subject}/{side}", project, subject, kind, full, (subject.split()[1], "settings"))
        )
    return Pair(kind, replace(sides[0], importance=0.6), replace(sides[1], importance=0.6))
