from typing import NamedTuple

from ranking.contradictions.cues import Cue
from ranking.contradictions.lexicon import WEAK
from ranking.contradictions.values import Value

Span = tuple[int, int]
# how many words beside a value tell which slot it fills
_FRAME = 4


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


class Neighbours(NamedTuple):
    """The words of a clause and the places and normal forms of its values: put in order only for whom it decides."""

    words: dict[str, Word]
    values: list[tuple[int, object]]

    def before(self, place: int) -> tuple[str, ...]:
        """What stands before a place, the nearest first, weak words left out."""
        return tuple(key for at, key in self._ordered() if at < place)[-_FRAME:][::-1]

    def after(self, place: int) -> tuple[str, ...]:
        """What stands after a place, the nearest first, weak words left out."""
        return tuple(key for at, key in self._ordered() if at > place)[:_FRAME]

    def _ordered(self) -> list[tuple[int, str]]:
        said = [(word.place, key) for key, word in self.words.items() if key not in WEAK]
        return sorted(said + [(place, str(norm)) for place, norm in self.values])


class Slot(NamedTuple):
    """A value where it stands: what is named right before it, what it counts, and whether it is part of the subject.

    ``which`` marks a number that says which one is meant, as in "sprint 14".
    """

    value: Value
    place: int
    head: bool
    label: str
    noun: str
    beside: Neighbours
    which: bool = False

    @property
    def before(self) -> tuple[str, ...]:
        return self.beside.before(self.place)

    @property
    def after(self) -> tuple[str, ...]:
        return self.beside.after(self.place)


class Claim(NamedTuple):
    """One clause, read: what it is about, what it says, and under which reservations.

    ``keys`` are the stems of its words.
    """

    span: Span
    words: dict[str, Word]
    keys: frozenset[str]
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
    def strong(self) -> frozenset[str]:
        """The stems that say something: weak ones left out, unless all are weak."""
        return self.keys - WEAK or self.keys

    @property
    def negated(self) -> bool:
        """Whether an odd number of negations stands in it."""
        return len(self.negation) % 2 == 1
