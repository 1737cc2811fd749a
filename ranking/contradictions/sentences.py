from operator import methodcaller
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from ranking.contradictions.cutting import pieces_of, places, split
from ranking.contradictions.opposition import Oppositions
from ranking.contradictions.stretches import (
    Role,
    carried,
    in_subject,
    may_be_told,
    pronouns,
    stands_in,
    supposes,
    surely_apart,
    surely_together,
    told_after_colon,
)
from ranking.contradictions.vocabulary import USED, Bits, Flags, Ids, Vocabulary, some, vocabulary_of
from ranking.simhash import fnv1a64
from ranking.tokens import Texts

# the low bits of a hash of digits are few: a multiple's high ones tell numbers apart
_SPREAD, _TOP, _NEXT = np.uint64(0x9E3779B97F4A7C15), np.uint64(58), np.uint64(6)


class Identities(NamedTuple):
    """Bits of what tells one thing from another: numbers, identifiers, and identifiers that are the subject."""

    numbers: Bits
    things: Bits
    subjects: Bits

    def at(self, rows: Ids) -> "Identities":
        return Identities(*(bits[rows] for bits in self))


class Stream(NamedTuple):
    """All pieces in order: which one, of which sentence, surely in which clause and at most in which, its roles.

    ``word`` is the number of what it may be read as, -1 if as no word.
    """

    code: npt.NDArray[np.int32]
    owner: Ids
    clause: Ids
    whole: Ids
    role: Ids
    word: Ids


class Sentences(NamedTuple):
    """The distinct sentences of some texts, cut into stretches at commas and joining words.

    ``text`` and ``sentence`` say which text holds which sentence; ``owner`` is the sentence of each stretch, ``home``
    its text (a number of its own if several hold it), and the rest is what the search needs to know of a stretch.
    ``coarse`` (one bit for each), ``fine`` (two) and ``vague`` are of all stretches that surely make one clause with
    it; ``clauses`` are those clauses' words, of which ``beside`` are weak or identifiers. ``wholes`` reach to where a
    clause surely ends; ``told`` is false where they tell nothing. ``said`` has a bit for every word that is neither.
    """

    written: list[str]
    text: Ids
    sentence: Ids
    home: Ids
    owner: Ids
    alone: Flags
    words: csr_array
    clause: Ids
    clauses: csr_array
    beside: Ids
    whole: Ids
    wholes: csr_array
    told: Flags
    said: Bits
    weak: Bits
    values: Bits
    identifiers: Bits
    coarse: Identities
    fine: Identities
    vague: Flags
    marked: Flags
    names: Bits
    frames: Bits
    opposed: Bits
    against: Bits
    negators: Ids
    cued: Flags
    distinct: list[str]
    stream: Stream


def read_sentences(texts: Texts, oppositions: Oppositions) -> Sentences:
    """Cut texts into sentences and note what each could conflict by; equal sentences are read once."""
    written, text, sentence = split(texts)
    pieces = pieces_of(written)
    coded = pieces.values.dictionary_encode()
    index, owner = places(pieces, coded)
    distinct = [piece.decode("utf-8", "surrogatepass") for piece in coded.dictionary.to_pylist()]
    vocabulary = vocabulary_of(distinct, oppositions)
    first = np.diff(owner, prepend=-1) > 0
    roles = vocabulary.role[index]
    parts = vocabulary.joins[index] | told_after_colon(roles, first, vocabulary.content[index], vocabulary.slash[index])
    starts = np.flatnonzero(parts | first)
    stretch = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(index))))
    together = surely_together(roles, first, starts)
    openings = starts[~together]
    clause_of = np.cumsum(~together) - 1
    of_clause = clause_of[stretch]
    asks = np.fromiter(map(methodcaller("endswith", "?"), written), np.bool_, len(written))
    supposed = _holding(np.flatnonzero(vocabulary.unreal[index]), of_clause, len(openings)) | supposes(roles, openings)
    # the last clause of a question claims nothing, and neither does one that supposes
    last = np.flatnonzero(np.append(first[1:], True)) if len(index) else index
    supposed[of_clause[last[asks[owner[last]]]]] = True
    spread = fnv1a64(coded.dictionary)[0] * _SPREAD
    bit = np.uint64(1) << (spread >> _TOP)
    # two bits of a name or value, so that few are taken for each other
    both = np.stack((bit, np.uint64(1) << ((spread << _NEXT) >> _TOP)), axis=1)
    article = _articles(vocabulary, index, first)
    stems = np.where(supposed[of_clause], -1, vocabulary.stems[index])
    stems[article] = -1
    words, kept = _words(stems, stretch)
    owners = owner[starts[kept]]
    clause = clause_of[kept]
    whole_of = np.cumsum(surely_apart(roles, first, starts)) - 1
    told = may_be_told(roles, starts[np.diff(whole_of, prepend=-1) > 0])

    def in_stretch(bits: Bits, at: Ids) -> Bits:
        return _joined(bits[index[at]], stretch[at], len(starts))[kept]

    def in_clause(bits: Bits, at: Ids) -> Bits:
        return _joined(bits[index[at]], of_clause[at], len(openings))

    opposing = _opposing(vocabulary, index, first)
    strong = (vocabulary.weak == 0) & ~vocabulary.identifier
    telling = np.where(strong, np.uint64(1) << (vocabulary.stems.astype(np.uint64) * _SPREAD >> _TOP), np.uint64(0))
    weak, frames = (np.flatnonzero((bits != 0)[index]) for bits in (vocabulary.weak, vocabulary.frame))
    named = np.flatnonzero(vocabulary.identifier[index])
    subjects = carried(roles, openings, in_clause(both, named[in_subject(roles, openings)[named]]))
    things = in_clause(both, named)
    numbers = in_clause(both, np.flatnonzero(vocabulary.number[index]))
    fine = Identities(numbers, things | subjects, subjects).at(clause)
    # a sentence's first word is written large whatever it is
    large = vocabulary.name[index] & (~first | (vocabulary.frame != 0)[index])
    large[article] = False
    valued = vocabulary.value[index]
    valued[pronouns(roles, first)] = False
    return Sentences(
        written=written,
        text=text,
        sentence=sentence,
        home=_homes(text, sentence, len(written))[owners],
        owner=owners,
        alone=np.bincount(owners, minlength=len(written))[owners] == 1,
        words=words,
        clause=clause,
        clauses=_grouped(words, clause),
        beside=(_ones(in_clause(vocabulary.weak, weak)) + _ones(things[:, 0]))[clause],
        whole=whole_of[kept],
        wholes=_grouped(words, whole_of[kept]),
        told=told[whole_of[kept]],
        said=in_stretch(telling, np.flatnonzero(stems >= 0)),
        weak=in_stretch(vocabulary.weak, weak),
        values=in_clause(both, np.flatnonzero(valued))[clause],
        identifiers=in_stretch(bit, named),
        coarse=Identities(*(np.ascontiguousarray(bits[:, 0]) for bits in fine)),
        fine=fine,
        vague=stands_in(roles, openings)[clause],
        marked=_holding(np.flatnonzero(vocabulary.slash[index]), stretch, len(starts))[kept],
        names=in_stretch(both, np.flatnonzero(large)),
        frames=in_stretch(vocabulary.frame, frames),
        opposed=in_clause(vocabulary.opposed, opposing)[clause],
        against=in_clause(vocabulary.against, opposing)[clause],
        negators=np.bincount(of_clause[_negators(vocabulary, index)], minlength=len(openings))[clause],
        cued=_holding(_cues(vocabulary, index), of_clause, len(openings))[clause],
        distinct=distinct,
        stream=Stream(index, owner, of_clause, whole_of[stretch], roles, vocabulary.words[index]),
    )


def _articles(vocabulary: Vocabulary, index: npt.NDArray[np.int32], first: Flags) -> Ids:
    """The places of "A" before what it is: "A job" is any, "server A" is one."""
    at = np.flatnonzero(vocabulary.letter_a[index])
    places: Ids = at[first[at] | vocabulary.joins[index[at - 1]]]
    return places


def _negators(vocabulary: Vocabulary, index: npt.NDArray[np.int32]) -> Ids:
    """The places of pieces that deny: words that do, and "fails to"."""
    fails = np.flatnonzero(vocabulary.fails[index[:-1]])
    denies = vocabulary.negator[index]
    denies[fails] |= (vocabulary.role[index[fails + 1]] & Role.TO) != 0
    return np.flatnonzero(denies)


def _cues(vocabulary: Vocabulary, index: npt.NDArray[np.int32]) -> Ids:
    """The places of pieces that are a cue, alone or with the piece after them."""
    at = np.flatnonzero((vocabulary.opens != 0)[index])
    opens, before = vocabulary.opens[index[at]], vocabulary.be[index[np.maximum(at - 1, 0)]]
    # "is used to" tells what for, not what was
    opens[(opens == USED) & before & (at > 0)] = 0
    follows = np.append(index, -1)[at + 1]
    closes = np.where(follows >= 0, vocabulary.closes[follows], -1)
    return np.concatenate((np.flatnonzero(vocabulary.cue[index]), at[opens == closes]))


def _opposing(vocabulary: Vocabulary, index: npt.NDArray[np.int32], first: Flags) -> Ids:
    """The places of pieces that are opposed to something: not of "on" before another word, which opposes nothing."""
    at = np.flatnonzero(some(vocabulary.opposed)[index])
    following = np.minimum(at + 1, len(index) - 1)
    role, code = vocabulary.role[index[following]], index[following]
    word = (role & (Role.COMMA | Role.COLON | Role.PARTS) == 0) & ~vocabulary.joins[code] & ~vocabulary.slash[code]
    idle = vocabulary.particle[index[at]] & (following > at) & ~first[following] & word
    idle &= first[at] | ~vocabulary.turned[index[np.maximum(at - 1, 0)]]
    places: Ids = at[~idle]
    return places


def _holding(places: Ids, groups: Ids, count: int) -> Flags:
    """Which of so many groups hold one of these places."""
    held = np.zeros(count, np.bool_)
    held[groups[places]] = True
    return held


def _joined(bits: Bits, groups: Ids, count: int) -> Bits:
    """The bits of each of so many groups, from those of the few pieces that have any, in order of their groups."""
    joined = np.zeros((count, *bits.shape[1:]), np.uint64)
    if len(groups):
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        joined[groups[starts]] = np.bitwise_or.reduceat(bits, starts)
    return joined


def _homes(text: Ids, sentence: Ids, count: int) -> Ids:
    """The one text that holds each sentence, or a negative number where several do."""
    lowest, highest = np.full(count, len(text)), np.full(count, -1)
    np.minimum.at(lowest, sentence, text)
    np.maximum.at(highest, sentence, text)
    return np.where(lowest == highest, lowest, -1 - np.arange(count))


def _ones(bits: Bits) -> Ids:
    return np.bitwise_count(bits).astype(np.int64)


def _grouped(words: csr_array, groups: Ids) -> csr_array:
    """The words of runs of stretches."""
    count = int(groups.max(initial=-1)) + 1
    bounds = words.indptr[np.searchsorted(groups, np.arange(count + 1))]
    grouped = csr_array((words.data, words.indices, bounds), shape=(count, words.shape[1]), copy=True)
    grouped.sum_duplicates()
    return grouped


def _words(said: Ids, stretch: Ids) -> tuple[csr_array, Ids]:
    """The words of every stretch that says any, as rows of ones, and which stretches those are."""
    at, width = np.flatnonzero(said >= 0), int(said.max(initial=0)) + 1
    bits = width.bit_length()
    keys = np.sort((stretch[at] << bits) | said[at])
    # np.unique hashes, which takes ten times as long as sorting here
    keys = keys[np.diff(keys, prepend=-1) > 0]
    rows, columns = keys >> bits, keys & ((1 << bits) - 1)
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    kept, bounds = rows[starts], np.append(starts, len(keys))
    return csr_array((np.ones(len(keys), np.int32), columns, bounds), shape=(len(kept), width)), kept
