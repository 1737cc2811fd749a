from typing import NamedTuple

from ranking.contradictions.cues import Cue
from ranking.contradictions.values import Value

Span = tuple[int, int]


class Word(NamedTuple):
    """A word that says what is spoken of: its stem, where it stands, whether it is a name or part of the subject.

    ``bound`` marks a name that only says which one, as in "the book of Mark" or "Mark's book".
    """

    key: str
    start: int
    end: int
    place: int
    name: bool
    head: bool
    kind: str
    before: str
    bound: bool = False


class Slot(NamedTuple):
    """A value where it stands: what is named right before it, what it counts, and whether it is part of the subject.

    ``which`` marks a number that says which one is meant, as in "sprint 14".
    """

    value: Value
    place: int
    head: bool
    label: str
    noun: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    which: bool = False


class Claim(NamedTuple):
    """One clause, read: what it is about, what it says, and under which reservations.

    ``keys`` are the stems of its words, ``strong`` those that say something: weak ones left out, unless all are weak.
    """

    span: Span
    words: dict[str, Word]
    keys: frozenset[str]
    strong: frozenset[str]
    slots: tuple[Slot, ...]
    said: dict[str, Span]
    sequence: tuple[object, ...]
    negation: tuple[Span, ...]
    cue: Cue | None
    retired: frozenset[str]
    instead: frozenset[str]
    asks: bool
    marks: frozenset[str]
    scopes: frozenset[tuple[str, str]]
    times: frozenset[tuple[object, ...]]
    conditions: frozenset[str]

    @property
    def negated(self) -> bool:
        """Whether an odd number of negations stands in it."""
        return len(self.negation) % 2 == 1
