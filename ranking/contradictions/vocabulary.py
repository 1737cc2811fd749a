from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ranking.contradictions.clause_reader import TURNED
from ranking.contradictions.cues import BE, CUE_PAIRS, CUE_WORDS
from ranking.contradictions.facts import GO, LANGUAGE, PARTICLES, SHORTEST
from ranking.contradictions.lexicon import (
    ATTRIBUTES,
    HOLDS_ONE,
    KIND,
    NEGATORS,
    NOMINAL,
    ONE_HOLDER,
    STOP,
    UNREAL,
    WEAK,
)
from ranking.contradictions.measures import FREQUENCIES, MONTHS, NUMBERS, WEEKDAYS
from ranking.contradictions.opposing_bits import opposing_bits
from ranking.contradictions.opposition import Oppositions
from ranking.contradictions.stems import stem
from ranking.contradictions.stretches import COLON, DASH, TIE, role
from ranking.contradictions.word_lists import words

Ids = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]

_JOINS = words("joins") | {DASH}
_SUPPOSED = UNREAL - {"going", "recommend", "plan", "plans"}
_VALUES = (
    (frozenset(NUMBERS) - {"one", "half"})
    | frozenset(WEEKDAYS)
    | {f"{day}s" for day in WEEKDAYS}
    | frozenset(MONTHS)
    | frozenset(FREQUENCIES)
    | {"noon", "midnight", "minute", "hour", "day", "night", "week", "month", "quarter", "year"}
)
_FRAMES = HOLDS_ONE | ATTRIBUTES | ONE_HOLDER
WORD = 64
# a scope is looked at again and again, and its words hardly change
_REMEMBERED = 1 << 17
# who holds something, and what has a small word for its value, have bits of their own; the rest share what is left
_ALONE = ONE_HOLDER | NOMINAL
_HOLDERS, _OTHERS = sorted(_ALONE), sorted((_FRAMES | frozenset(KIND.values())) - _ALONE)
_FRAME_BIT = {frame: 1 << place for place, frame in enumerate(_HOLDERS)} | {
    frame: 1 << (len(_HOLDERS) + place % (WORD - len(_HOLDERS))) for place, frame in enumerate(_OTHERS)
}
_WEAK_BIT = {word: 1 << place % WORD for place, word in enumerate(sorted(WEAK))}
HOLDER_BITS = np.bitwise_or.reduce([np.uint64(_FRAME_BIT[holder]) for holder in _HOLDERS])
_PAIRS = {**CUE_PAIRS, "any": "more", "place": "of"}
_LONE_CUES = CUE_WORDS - frozenset(_PAIRS)
_CLOSES = {word: place for place, word in enumerate(dict.fromkeys(_PAIRS.values()), 1)}
_OPENS = {word: _CLOSES[closing] for word, closing in _PAIRS.items()}
_NO_CONTENT = STOP | {",", COLON, DASH, "/"}
# the number of the pair "used to"
USED = _OPENS["used"]


class _Piece(NamedTuple):
    """What a piece of text is: the stem it is compared by, if it says anything, and what it may do to a claim."""

    key: str = ""
    opens: int = 0
    closes: int = -1
    be: bool = False
    negator: bool = False
    joins: bool = False
    unreal: bool = False
    cue: bool = False
    says: bool = False
    value: bool = False
    name: bool = False
    weak: int = 0
    frame: int = 0
    role: int = 0
    identifier: bool = False
    word: bool = False
    number: bool = False
    slash: bool = False
    fails: bool = False
    particle: bool = False
    turned: bool = False
    letter_a: bool = False
    content: bool = False


class _Packed(NamedTuple):
    """The same with all that is true or false of it in one number, a bit of ``_SORTS`` for each."""

    key: str
    sorts: int
    opens: int
    closes: int
    weak: int
    frame: int
    role: int


_SORTS = {name: 1 << place for place, name in enumerate(_Piece._fields) if _Piece._field_defaults[name] is False}


class Vocabulary(NamedTuple):
    """The same of all distinct pieces, aligned; the stems are numbers, -1 where a piece says nothing.

    ``words`` are those of all that may be read as a word, a value's name too.
    """

    stems: Ids
    words: Ids
    weak: Bits
    value: Flags
    name: Flags
    frame: Bits
    negator: Flags
    cue: Flags
    opens: Ids
    closes: Ids
    be: Flags
    joins: Flags
    unreal: Flags
    role: Ids
    identifier: Flags
    number: Flags
    slash: Flags
    fails: Flags
    particle: Flags
    turned: Flags
    letter_a: Flags
    content: Flags
    opposed: Bits
    against: Bits


def _pack(piece: _Piece) -> _Packed:
    sorts = sum(bit for name, bit in _SORTS.items() if getattr(piece, name))
    return _Packed(piece.key, sorts, piece.opens, piece.closes, piece.weak, piece.frame, piece.role)


_NUMBER = _pack(_Piece(value=True, number=True))


@lru_cache(maxsize=_REMEMBERED)
def _packed(piece: str) -> _Packed:
    if piece.isdigit() and piece.isascii():
        # most of what is met for the first time
        return tuple.__new__(_Packed, (piece, *_NUMBER[1:]))
    known, lower = _piece(piece), piece.lower()
    return _pack(
        known._replace(
            slash=piece == "/",
            fails=known.key == "fail",
            particle=lower in PARTICLES,
            turned=lower in TURNED,
            letter_a=piece == "A",
            content=lower not in _NO_CONTENT and not known.number,
        )
    )


def _piece(piece: str) -> _Piece:
    word = piece.lower()
    if "'" in word:
        word = word.strip("'").removesuffix("'s")
    if not word:
        return _Piece()
    if TIE in word:
        return _Piece(word, says=True, identifier=True, number=piece[0].isdigit())
    key = stem(word)
    opens, closes, be, part = _OPENS.get(word, 0), _CLOSES.get(word, -1), word in BE, role(word, key)
    if piece == GO:
        word, key = LANGUAGE, stem(LANGUAGE)
    if word in NEGATORS or word == "non" or word.endswith("n't"):
        return _Piece(key, opens, closes, be, role=part, negator=True, word=word == "non")
    stop = word in STOP
    if not stop and (word[0].isdigit() or word in _VALUES):
        odd = not word.isdigit()
        return _Piece(key, opens, closes, be, role=part, value=True, word=odd, number=piece[0].isdigit())
    joins, unreal, cue = word in _JOINS, word in _SUPPOSED, not stop and word in _LONE_CUES
    if stop or unreal or len(word) < SHORTEST or ("'" in word and word.partition("'")[0] in STOP):
        # "server A" is not server B
        letter = len(piece) == 1 and piece.isupper()
        named = letter and piece != "I"
        # "one review" is a number of them, "one of us" is none: which, its place tells
        counts = word == "one" and "'" not in piece
        return _Piece(
            key, opens, closes, be, role=part, joins=joins, unreal=unreal, cue=cue, says=named, word=letter, name=named,
            value=counts,
        )  # fmt: skip
    large, odd = not piece.islower(), not piece.isalpha()
    return _Piece(
        key,
        opens,
        closes,
        be,
        role=part,
        joins=joins,
        cue=cue,
        says=True,
        word=True,
        value=(large and odd) or word == "half",
        name=(piece[0].isupper() or odd) if large else word in KIND,
        weak=_WEAK_BIT.get(key, 0),
        frame=_FRAME_BIT[KIND.get(word, key)] if word in KIND or key in _FRAMES else 0,
    )


def vocabulary_of(distinct: list[str], oppositions: Oppositions) -> Vocabulary:
    """What each distinct piece of text is, decided once however often it stands there."""
    keys, sorts, opens, closes, weak, frame, roles = zip(*map(_packed, distinct), strict=True)
    held = np.array(sorts, np.int64)

    def flags(name: str) -> Flags:
        found: Flags = (held & _SORTS[name]) != 0
        return found

    known: dict[str, int] = {}

    def numbered(flags: Flags) -> Ids:
        numbers, at = np.full(len(distinct), -1, np.int64), np.flatnonzero(flags)
        numbers[at] = [known.setdefault(keys[place], len(known)) for place in at.tolist()]
        return numbers

    opposed, against = opposing_bits(keys, oppositions)
    particle = flags("particle")
    for at in np.flatnonzero(particle).tolist():
        # a compound may end with it
        particle[at] = distinct[at].lower() not in oppositions.tails
    return Vocabulary(
        stems=numbered(flags("says")),
        words=numbered(flags("word")),
        weak=np.array(weak, np.uint64),
        value=flags("value"),
        name=flags("name"),
        frame=np.array(frame, np.uint64),
        negator=flags("negator"),
        cue=flags("cue"),
        opens=np.array(opens, np.int64),
        closes=np.array(closes, np.int64),
        be=flags("be"),
        joins=flags("joins"),
        unreal=flags("unreal"),
        role=np.array(roles, np.int64),
        identifier=flags("identifier"),
        number=flags("number"),
        slash=flags("slash"),
        fails=flags("fails"),
        particle=particle,
        turned=flags("turned"),
        letter_a=flags("letter_a"),
        content=flags("content"),
        opposed=opposed,
        against=against,
    )


def some(bits: Bits | Flags) -> Flags:
    """Which rows have a bit, of one number or of a few: a column at a time, for rows of a few take long to reduce."""
    held: Flags = (bits if bits.ndim == 1 else bits[:, 0]) != 0
    if bits.ndim == 1:
        return held
    for column in bits.T[1:]:
        held |= column != 0
    return held
