import re
from enum import IntFlag
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from ranking.contradictions.clauses import OPENERS
from ranking.contradictions.cues import CUE_PAIRS, CUE_WORDS, DISPLACING, MOVED
from ranking.contradictions.facts import GO, LANGUAGE, facts
from ranking.contradictions.lexicon import APPROXIMATE, CONDITIONS, KIND, NOUNS_TOO, OWNED, PERIODS, WEAK
from ranking.contradictions.measures import NUMBERS, SCALES, UNITS
from ranking.contradictions.stems import HEAD
from ranking.contradictions.stretches import TIE
from ranking.contradictions.values import TAKEN_ALONG, VALUE_STARTS

# letters, digits and the signs that part words and clauses: whatever else there is, the reader of claims may take
# several pieces for one, or one for several
PLAIN = re.compile(
    r"""
    (?:
        [A-Za-z0-9 ]++
      | [,:](?=\s|$)
      | '(?<=[A-Za-z]')(?=[A-Za-z])
      | -(?<=[A-Za-z]-)(?:(?=[A-Za-z]++(?![\d-]))|(?=[A-Za-z]*+\d[A-Za-z\d]*+(?:[ ,]|\.?$)))
    )*+
    [.!?]*
    """,
    re.VERBOSE,
)
# may be read with a number, a time, a cue or as a clause's opening, and then are no words of it
_TAKEN = TAKEN_ALONG | PERIODS | CUE_WORDS | OPENERS | frozenset(CUE_PAIRS.values()) | {"am", "pm", "etc", "vs", "more"}
# what is read as a clause's speaker after a comma, though its piece has lost the ending
_SHORTENED = frozenset({"it's", "he's", "she's"})
# as many digits are told apart when numbers are compared
_DIGITS = 6
_BIT = 63
# a number beside one of these may be the same as another in digits
_SPELLED = frozenset(NUMBERS) | frozenset(SCALES) | {"half", "am", "pm", "clock"}


class Trait(IntFlag):
    """What a piece may do to the reading of its clause, beside being a word of it."""

    # may be a word; surely is; and surely no name
    WORD = 1
    SURE = 2
    SMALL = 4
    CUE = 8
    # such a cue names what came instead, or does together with "from"
    DISPLACES = 16
    MOVES = 32
    FROM = 64
    CONDITION = 128
    SURE_CONDITION = 65536
    DOUBT = 256
    STANDS_IN = 512
    OWNED = 1024
    IDENTIFIER = 2048
    # a number in digits; one of which more must be known before it is compared; a unit
    NUMBER = 4096
    UNSURE_NUMBER = 8192
    UNIT = 16384
    # a word that may be a value by itself
    VALUE = 32768
    # makes numbers equal that are close
    ABOUT = 131072
    # orders something at the head of a clause; unless such a verb follows such a plural
    LEADS = 262144
    FOLLOWS = 524288
    PLURAL = 1048576


# plain numbers: a flag's own operators take ten times as long
_ODD_NUMBER, _STANDS_IN = int(Trait.NUMBER | Trait.UNSURE_NUMBER), int(Trait.STANDS_IN)
_PLURAL, _FOLLOWS, _LEADS = int(Trait.PLURAL), int(Trait.FOLLOWS), int(Trait.LEADS)
_WORD, _SURE, _SMALL = int(Trait.WORD), int(Trait.SURE), int(Trait.SMALL)
_LISTED: dict[Trait, frozenset[str]] = {
    Trait.CUE: CUE_WORDS,
    Trait.DISPLACES: DISPLACING,
    Trait.MOVES: MOVED,
    Trait.FROM: frozenset({"from", "off"}),
    Trait.CONDITION: CONDITIONS,
    # "once a day" tells how often
    Trait.SURE_CONDITION: CONDITIONS - {"once"},
    # nobody is no man: who is, only the reader of claims knows
    Trait.DOUBT: _SHORTENED | {"nobody"},
    Trait.OWNED: OWNED,
    Trait.UNSURE_NUMBER: _SPELLED,
    Trait.ABOUT: APPROXIMATE | {unit for unit, (dimension, _) in UNITS.items() if dimension == "size"},
    Trait.UNIT: frozenset(UNITS),
    Trait.VALUE: VALUE_STARTS,
}
_OF_WORD = {
    word: sum(int(trait) for trait, listed in _LISTED.items() if word in listed)
    for word in frozenset().union(*_LISTED.values())
}


class Piece(NamedTuple):
    """What a piece may be to the reader of claims; a bit, in one of two halves, of its stem's head or of itself."""

    stem: str
    low: int
    high: int
    traits: int


def _halves(text: str) -> tuple[int, int]:
    mixed = crc32(text.encode("utf-8", "replace"))
    bit = 1 << (mixed & _BIT)
    return (bit, 0) if mixed & (_BIT + 1) else (0, bit)


@lru_cache(maxsize=1 << 16)
def foreseen(piece: str) -> Piece:
    """Look a piece up once."""
    word = piece.lower()
    if TIE in word:
        return Piece("", *_halves(word), int(Trait.IDENTIFIER | (Trait.PLURAL if word.endswith("s") else 0)))
    if word.isdigit():
        sure = word.isascii() and len(word) <= _DIGITS and word[0] != "0"
        return Piece("", *_halves(word), int(Trait.NUMBER if sure else Trait.NUMBER | Trait.UNSURE_NUMBER))
    if piece == GO:
        return Piece(LANGUAGE, *_halves(LANGUAGE[:HEAD]), _WORD | _FOLLOWS)
    known = facts(word)
    letter = len(piece) == 1 and piece.isupper()
    traits = _OF_WORD.get(word, 0)
    # "10ms" is a number, "2fa" is not
    traits |= _ODD_NUMBER if word[0].isdigit() else 0
    traits |= _STANDS_IN if known.stands_in or known.vague else 0
    traits |= _PLURAL if word.endswith("s") else 0
    traits |= _FOLLOWS if known.verb and known.key not in NOUNS_TOO and not word.endswith("ing") else 0
    if known.stop and not letter:
        return Piece("", *(_halves(word) if word in UNITS else (0, 0)), traits)
    if known.key in WEAK:
        return Piece("", *(_halves(word) if word in UNITS else (0, 0)), traits | _WORD)
    sure = known.word.isalpha() and not (
        letter or known.negator or known.time or known.relative_time or word in _TAKEN or known.key == "fail"
    )
    if sure:
        traits |= _SURE | (_LEADS if known.verb and not word.endswith("ing") else 0)
        traits |= _SMALL if piece.islower() and known.word not in KIND else 0
    # forms of one name have these letters in common
    return Piece(known.key, *_halves(known.key[:HEAD]), traits | _WORD)
