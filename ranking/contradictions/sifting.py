import re
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

import numpy as np

from ranking.contradictions.clauses import OPENERS
from ranking.contradictions.cues import CUE_WORDS
from ranking.contradictions.facts import facts
from ranking.contradictions.judging import PLENTY
from ranking.contradictions.kinds import Kinds
from ranking.contradictions.lexicon import CONDITIONS, KIND, PERIODS, WEAK
from ranking.contradictions.sentences import Sentences
from ranking.contradictions.stems import HEAD
from ranking.contradictions.stretches import in_subject
from ranking.contradictions.values import TAKEN_ALONG
from ranking.contradictions.vocabulary import Bits, Flags, Ids

# letters, digits and the signs that part words and clauses: whatever else there is, the reader of claims may take
# several pieces for one, or one for several
_PLAIN = re.compile(
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
_TAKEN = TAKEN_ALONG | PERIODS | CUE_WORDS | OPENERS | CONDITIONS | {"am", "pm", "etc", "vs", "approx"}
_BIT = 63


class _Word(NamedTuple):
    """What a piece may be to the reader of claims: two sets of bits for its stem's head, and what else it may do."""

    stem: str = ""
    low: int = 0
    high: int = 0
    sure: bool = False
    small: bool = False
    cue: bool = False
    condition: bool = False


@lru_cache(maxsize=1 << 16)
def _word(piece: str) -> _Word:
    word = piece.lower()
    known = facts(word)
    cue, condition = word in CUE_WORDS, known.condition
    letter = len(piece) == 1 and piece.isupper()
    if (known.stop and not letter) or known.key in WEAK:
        return _Word(cue=cue, condition=condition)
    # forms of one name have these letters in common
    head = crc32(known.key[:HEAD].encode("utf-8", "replace"))
    bit = 1 << (head & _BIT)
    low, high = (bit, 0) if head & (_BIT + 1) else (0, bit)
    sure = known.word.isalpha() and not (
        letter or known.negator or known.time or known.relative_time or word in _TAKEN or known.key == "fail"
    )
    return _Word(known.key, low, high, sure, piece.islower() and known.word not in KIND, cue, condition)


class _Said(NamedTuple):
    """Words of clauses or of wholes as bits, in two halves."""

    low: Bits
    high: Bits

    @classmethod
    def of(cls, low: Bits, high: Bits, starts: Ids, where: Flags | None = None) -> "_Said":
        halves = (low, high) if where is None else (np.where(where, half, np.uint64(0)) for half in (low, high))
        return cls(*(np.bitwise_or.reduceat(half, starts) for half in halves))

    def beyond(self, rows: Ids, other: "_Said", others: Ids) -> Ids:
        """At least how many words each row has that the other table's has not."""
        counts = [
            np.bitwise_count(one[rows] & ~two[others]).astype(np.int64) for one, two in zip(self, other, strict=True)
        ]
        return counts[0] + counts[1]


def sift(read: Sentences, left: Ids, right: Ids, kinds: Kinds) -> Flags:
    """Which pairs of stretches may conflict by what their clauses surely say; wherever there is doubt, they may."""
    chosen = np.zeros(len(read.written), np.bool_)
    chosen[read.owner[left]] = chosen[read.owner[right]] = True
    at = np.flatnonzero(chosen[read.stream.owner])
    if not len(at):
        return np.ones(len(left), np.bool_)
    codes = read.stream.index[at]
    used = np.zeros(len(read.distinct), np.bool_)
    used[codes] = True
    numbers = np.flatnonzero(used)
    words = [_word(read.distinct[number]) for number in numbers.tolist()]
    local = (np.cumsum(used) - 1)[codes]
    stems, lows, highs, sures, smalls, cues, conditions = zip(*words, strict=True)
    low, high = np.array(lows, np.uint64)[local], np.array(highs, np.uint64)[local]
    clause, whole = read.stream.clause[at], read.stream.whole[at]
    openings, wholes = np.flatnonzero(np.diff(clause, prepend=-1)), np.flatnonzero(np.diff(whole, prepend=-1))
    sizes = np.diff(np.append(wholes, len(at)))

    def in_whole(flags: tuple[bool, ...]) -> Flags:
        held: Flags = np.logical_or.reduceat(np.array(flags, np.bool_)[local], wholes)
        return held

    sure = np.array(sures, np.bool_)[local] & ~np.repeat(in_whole(conditions), sizes)
    small = sure & np.array(smalls, np.bool_)[local]
    subject = sure & in_subject(read.stream.role[at], openings)
    opens = np.zeros(len(at), np.bool_)
    opens[wholes] = True
    # a clause that may go on with what comes before has its subject there
    subject &= np.repeat(opens[openings], np.diff(np.append(openings, len(at))))
    all_said = _Said.of(low, high, wholes)
    said, in_small, in_front = (_Said.of(low, high, openings, where) for where in (sure, small, subject))
    ones, others = (np.searchsorted(clause[openings], read.clause[side]) for side in (left, right))
    one_wholes, other_wholes = (np.searchsorted(whole[wholes], read.whole[side]) for side in (left, right))

    def beyond(table: _Said) -> tuple[Ids, Ids]:
        return table.beyond(ones, all_said, other_wholes), table.beyond(others, all_said, one_wholes)

    one, other = beyond(said)
    fewer, more = np.minimum(one, other), np.maximum(one, other)
    one_small, other_small = beyond(in_small)
    one_front, other_front = beyond(in_front)
    framed = (one_front == 0) | (other_front == 0)
    named = kinds.named | kinds.swapped | kinds.held
    may = (
        (kinds.opposed & (fewer <= 2) & (more <= 4))
        | (kinds.negated & (fewer == 0) & (more <= 1))
        | (kinds.valued & (((fewer == 0) & (more <= 4)) | framed))
        | (named & ((one_small == 0) | (one <= 1)) & ((other_small == 0) | (other <= 1)))
    )
    plain = np.ones(len(read.written), np.bool_)
    plain[[number for number in np.flatnonzero(chosen).tolist() if not _PLAIN.fullmatch(read.written[number])]] = False
    cued = in_whole(cues)
    doubt = ~(plain[read.owner[left]] & plain[read.owner[right]]) | cued[one_wholes] | cued[other_wholes]
    return may | doubt
