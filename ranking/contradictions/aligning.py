from typing import NamedTuple, Self

from ranking.contradictions.claim import Claim, Slot, Word
from ranking.contradictions.lexicon import WEAK
from ranking.contradictions.stems import alike, stem
from ranking.contradictions.values import same_clock

_ABOUT = 0.1
_BINARY = 0.08


class Aligned(NamedTuple):
    """Two claims laid side by side: what both say, and what each says alone, weak words left out.

    ``strong`` are the shared words that say something.
    """

    a: Claim
    b: Claim
    shared: frozenset[str]
    a_words: tuple[Word, ...]
    b_words: tuple[Word, ...]
    a_slots: tuple[Slot, ...]
    b_slots: tuple[Slot, ...]
    strong: frozenset[str]

    def overlap(self, without: frozenset[str] = frozenset()) -> float:
        """Shared words over the smaller set of words."""
        smaller = min(len(self.a.keys - without), len(self.b.keys - without))
        return min(1.0, len(self.shared - without) / smaller) if smaller else 0.0

    @property
    def one_kind(self) -> bool:
        """Whether the sides differ in two names that answer the same question."""
        kinds = {word.kind for word in (*self.a_words, *self.b_words)}
        return len(kinds) == 1 and "" not in kinds and bool(self.a_words) and bool(self.b_words)

    @property
    def told_of_a_thing(self) -> bool:
        """Whether both sides say how something is, and not what to do."""
        return "verb" in self.a.marks & self.b.marks and "order" not in self.a.marks | self.b.marks

    @property
    def states_a_thing(self) -> bool:
        """Whether both sides say something of a thing, and not of the speaker or the reader."""
        return self.told_of_a_thing and not (self.a.marks | self.b.marks) & {"me", "able", "may"}

    def turned(self) -> Self:
        """The same with its sides exchanged."""
        words, slots = (self.b_words, self.a_words), (self.b_slots, self.a_slots)
        return type(self)(self.b, self.a, self.shared, *words, *slots, self.strong)


def align(a: Claim, b: Claim) -> Aligned:
    """Lay two claims side by side; forms of one name and equal values count as shared."""
    shared = set(a.keys & b.keys)
    a_left = {key: word for key, word in a.words.items() if key not in shared}
    b_left = {key: word for key, word in b.words.items() if key not in shared}
    for key, word in list(a_left.items()) if b_left else ():
        twin = next((other for other in b_left if alike(key, other) and not (word.kind and b_left[other].kind)), None)
        if twin is not None:
            shared |= {key, twin}
            del a_left[key], b_left[twin]
    a_slots, b_slots = _unmatched(a.slots, b.slots)
    a_slots = [slot for slot in a_slots if not _spelled(slot, b_left)]
    b_slots = [slot for slot in b_slots if not _spelled(slot, a_left)]
    words, slots, both = (_strong(a_left), _strong(b_left)), (tuple(a_slots), tuple(b_slots)), frozenset(shared)
    return Aligned(a, b, both, *words, *slots, both - WEAK)


def _strong(words: dict[str, Word]) -> tuple[Word, ...]:
    return tuple(word for key, word in words.items() if key not in WEAK)


def _unmatched(ones: tuple[Slot, ...], others: tuple[Slot, ...]) -> tuple[list[Slot], list[Slot]]:
    left, right = [], list(others)
    for slot in ones:
        twin = next((other for other in right if _same(slot, other)), None)
        if twin is None:
            left.append(slot)
        else:
            right.remove(twin)
    return left, right


def _same(one: Slot, other: Slot) -> bool:
    left, right = one.value, other.value
    if left.kind != right.kind:
        return False
    if left.kind == "clock":
        return same_clock(left.norm, right.norm)
    if left.kind == "date" and isinstance(left.norm, tuple) and isinstance(right.norm, tuple):
        same_month, days = left.norm[0] == right.norm[0], (left.norm[1], right.norm[1])
        return same_month and (None in days or days[0] == days[1])
    if left.norm == right.norm:
        return left.bound == right.bound or "" in (left.bound, right.bound)
    if left.kind == "size":
        # a gigabyte is a thousand megabytes to some and 1024 to others
        return _near(left.norm, right.norm, _BINARY)
    return "about" in (left.bound, right.bound) and _near(left.norm, right.norm, _ABOUT)


def _near(one: object, other: object, share: float) -> bool:
    try:
        small, large = sorted((float(str(one)), float(str(other))))
    except ValueError:
        return False
    return large - small <= share * large


def _spelled(slot: Slot, words: dict[str, Word]) -> bool:
    """Whether the other side has a quoted word without its quotes."""
    return slot.value.kind == "quoted" and words.pop(stem(str(slot.value.norm)), None) is not None
