"""Near-duplicate families: what several agents, or one agent several times, wrote down in almost the same words."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from jobs.demo.grammar import LONGEST, one_of
from ranking.near_pairs import near_components
from ranking.simhash import simhash64

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from jobs.demo.planted import Pair
    from jobs.demo.writing import Memory

BITS = 3
SIZES = (2, 3, 2, 4, 2, 5, 3, 9, 2, 6)
TRIED = 60  # variants of a text that are tried before its family is given up
LONG_ENOUGH = 40  # words: what is repeated almost word for word is long; short notes are put anew
ALIKE = 0.9  # of the words of two texts together are in both
REWORDED = 6  # one retelling in so many changes a word; the others set the same words differently
SWAPS = (
    ("while", "whilst"), ("until", "till"), ("nobody", "no one"), ("or", "or else"), ("because", "since"),
    ("is", "was"), ("are", "were"), ("often", "frequently"), ("only", "just"), ("and", "and also"),
    ("with", "along with"), ("hardly", "barely"), ("several", "many"), ("have", "had"),
)  # fmt: skip


@dataclass(frozen=True)
class Family:
    """Memories in almost the same words; ``kind`` says who wrote them, or what is odd about them."""

    kind: str
    members: tuple[Memory, ...]


def families(bases: Sequence[Memory], random: Random, wanted: int) -> list[Family]:
    """So many families, each grown from one of the texts; every other one is one agent's, and one is a chain.

    Whether Rankscope's hash finds a member again is not asked: the truth would be what it is held against. Two kinds
    need the hash, because it defines them: a chain, and a family that disagrees (``dispute``).
    """
    found: list[Family] = []
    for base in (base for base in bases if len(base.text.split()) >= LONG_ENOUGH):
        number = len(found)
        if number == wanted:
            break
        chained, size = number == 1, SIZES[number % len(SIZES)]
        texts = _chain(base.text, random) if chained else _retold(base.text, random, size)
        if texts is None:
            continue
        kind = "chained" if chained else "one_agent" if number % 2 else "several_agents"
        members = [replace(base, key=f"{base.key}/{n}", text=text, title=None) for n, text in enumerate(texts)]
        found.append(Family(kind, (base, *members)))
    return found


def dispute(pair: Pair, random: Random) -> Family | None:
    """A family whose members disagree: a contradiction within 3 bits, and someone who repeats its older side."""
    older, newer = pair.older, pair.newer
    again = _retold(older.text, random, 2)
    if again is None or not is_near(older.text, newer.text, *again):
        return None
    return Family("disputed", (older, newer, replace(older, key=f"{older.key}/again", text=again[0])))


def alike(texts: Sequence[str]) -> list[tuple[int, int]]:
    """The pairs of texts that have nine words of ten in common, whatever their order and punctuation."""
    bags = [frozenset(re.findall(r"\w+", text.lower())) for text in texts]
    number = {word: n for n, word in enumerate(sorted(frozenset().union(*bags)))}
    holds = np.zeros((len(bags), len(number)), dtype=np.float32)
    for row, bag in enumerate(bags):
        holds[row, [number[word] for word in bag]] = 1
    shared, sizes = holds @ holds.T, holds.sum(axis=1)
    pairs = np.argwhere(np.triu(shared >= ALIKE * (sizes[:, None] + sizes - shared), 1))
    return [(one, other) for one, other in pairs.tolist()]


def is_near(*texts: str) -> bool:
    """Whether texts form one cluster of near-duplicates."""
    return bool(np.ptp(near_components(simhash64(list(texts)), BITS)) == 0)


def _retold(text: str, random: Random, size: int) -> list[str] | None:
    """As many retellings as make a family of this size: mostly the same words, now and then one of them changed."""
    found: dict[str, None] = {}
    for _ in range(TRIED):
        if len(found) == size - 1:
            return list(found)
        edits = _REWORDINGS if int(random.random() * REWORDED) == 0 else _SETTINGS
        retold = one_of(edits, random)(text, random)
        if retold != text and len(retold.split()) <= LONGEST:
            found[retold] = None
    return None


def _chain(text: str, random: Random) -> list[str] | None:
    """Variants of variants: each within 3 bits of the one before, the last beyond 3 bits of the first."""
    texts = [text]
    for _ in range(4):
        tried = [variant for variant in _variants(texts[-1], random) if variant not in texts]
        hashes, first, last = simhash64(tried), simhash64([text])[0], simhash64([texts[-1]])[0]
        step, away = np.bitwise_count(hashes ^ last), np.bitwise_count(hashes ^ first)
        allowed = np.flatnonzero(step <= BITS)
        if not allowed.size:
            return None
        furthest = int(allowed[np.argmax(away[allowed])])
        texts.append(tried[furthest])
        if away[furthest] > BITS + 1:
            return texts[1:]
    return None


def _variants(text: str, random: Random) -> list[str]:
    """The text as others would put it: another word here, other punctuation there, its sentences in another order."""
    found: dict[str, None] = {}
    for _ in range(TRIED):
        variant = text
        for _ in range(1 + int(random.random() * 2)):
            variant = one_of(_EDITS, random)(variant, random)
        if variant != text and len(variant.split()) <= LONGEST:
            found[variant] = None
    return list(found)


def _swapped(text: str, random: Random) -> str:
    one, other = one_of(SWAPS, random)
    return re.sub(rf"\b{one}\b", other, text, count=1)


def _reordered(text: str, random: Random) -> str:
    parts = re.split(r"(?<=[.?!]) ", text)
    turn = int(random.random() * len(parts))
    return " ".join(parts[turn:] + parts[:turn])


def _punctuated(text: str, random: Random) -> str:
    one, other = one_of(
        ((". ", "; "), (", ", " - "), (".", "!"), (": ", " - "), (", and", " and"), ("; ", ". ")), random
    )
    changed = text.replace(one, other, 1)
    changed = re.sub(r"([.!?] )([a-z])", lambda found: found[1] + found[2].upper(), changed)
    return re.sub(r"(; )([A-Z][a-z])", lambda found: found[1] + found[2].lower(), changed)


def _remarked(text: str, random: Random) -> str:
    remark = one_of(
        ("Again: {}", "Note: {}", "{} Still true.", "Reminder: {}", "{} Seen again.", "{} (Confirmed.)"), random
    )
    return remark.format(text)


_REWORDINGS = (_swapped, _remarked)
_SETTINGS = (_reordered, _punctuated)
_EDITS = (*_REWORDINGS, *_SETTINGS, _swapped)
