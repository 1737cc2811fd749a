from typing import NamedTuple

import numpy as np

from ranking.contradictions.foreseen import PLAIN, Trait, foreseen
from ranking.contradictions.judging import PLENTY
from ranking.contradictions.kinds import Kinds
from ranking.contradictions.sentences import Sentences
from ranking.contradictions.stems import alike
from ranking.contradictions.stretches import Role, in_subject
from ranking.contradictions.vocabulary import Bits, Flags, Ids

# words beside a conflict that judging allows: of opposed words on either side, of one value, of what did not end, of
# what is denied
_OPPOSED, _BESIDE, _STILL, _DENIED = 2, 4, 3, 2
# words beside a value that make one slot of two
_FRAME = 4
_SPREAD, _TOP = np.uint64(0x9E3779B97F4A7C15), np.uint64(58)
_NONE = np.uint64(0)


class _Sides(NamedTuple):
    """A number for each side of pairs."""

    one: Ids
    other: Ids

    @property
    def fewer(self) -> Ids:
        return np.minimum(*self)

    @property
    def more(self) -> Ids:
        return np.maximum(*self)

    @property
    def turned(self) -> "_Sides":
        return _Sides(self.other, self.one)


class _Stream(NamedTuple):
    """The pieces of the sentences of some pairs, and where the pairs' clauses are among them.

    A clause begins at one of ``openings``, a whole, which is as much as it may be, at one of ``wholes``; ``known`` are
    the pieces of which it is.
    """

    stems: list[str]
    low: Bits
    high: Bits
    trait: Ids
    role: Ids
    first: Flags
    openings: Ids
    wholes: Ids
    known: Flags
    clause: _Sides
    whole: _Sides

    def has(self, trait: Trait) -> Flags:
        """Which pieces have one of these traits."""
        held: Flags = (self.trait & int(trait)) != 0
        return held

    def held(self, trait: Trait, *, in_clause: bool = False) -> tuple[Flags, Flags]:
        """Whether each side has a piece with one of these traits: in all its clause may be, or in what it surely is."""
        starts, rows = (self.openings, self.clause) if in_clause else (self.wholes, self.whole)
        traits = np.where(self.known, self.trait, 0) if in_clause else self.trait
        held = np.bitwise_or.reduceat(traits, starts) & int(trait) != 0
        return held[rows.one], held[rows.other]

    def counted(self, flags: Flags) -> _Sides:
        """How many such pieces each side may have."""
        counts = np.add.reduceat(flags.astype(np.int64), self.wholes)
        return _Sides(counts[self.whole.one], counts[self.whole.other])

    def beyond(self, sure: Flags, may: Flags) -> _Sides:
        """At least how many of the sure pieces of each side's clause are none that the other side may have."""
        counts = [np.zeros(len(self.clause.one), np.int64) for _ in self.clause]
        for half in (self.low, self.high):
            table = np.bitwise_or.reduceat(np.where(sure & self.known, half, _NONE), self.openings)
            others = np.bitwise_or.reduceat(np.where(may, half, _NONE), self.wholes)
            for side, (row, whole) in enumerate(zip(self.clause, self.whole.turned, strict=True)):
                counts[side] += np.bitwise_count(table[row] & ~others[whole])
        return _Sides(*counts)


def _laid_out(read: Sentences, left: Ids, right: Ids) -> _Stream:
    chosen = np.zeros(len(read.written), np.bool_)
    chosen[read.owner[left]] = chosen[read.owner[right]] = True
    at = np.flatnonzero(chosen[read.stream.owner])
    codes = read.stream.code[at]
    used = np.zeros(len(read.distinct), np.bool_)
    used[codes] = True
    pieces = [foreseen(read.distinct[number]) for number in np.flatnonzero(used).tolist()]
    stems, lows, highs, traits = zip(*pieces, strict=True)
    local = (np.cumsum(used) - 1)[codes]
    role, first = read.stream.role[at], np.diff(read.stream.owner[at], prepend=-1) > 0
    clause, whole = read.stream.clause[at], read.stream.whole[at]
    openings, wholes = (np.flatnonzero(np.diff(groups, prepend=-1)) for groups in (clause, whole))
    openings = openings[~_goes_on_after_comma(role, first, openings)]
    # what stands before a colon may be a clause of its own, or one with what follows: nothing is sure of either
    colon = np.bitwise_or.reduceat(role, openings) & Role.COLON != 0
    places = (np.searchsorted(clause, read.clause[side]) for side in (left, right))
    return _Stream(
        stems=[stems[number] for number in local.tolist()],
        low=np.array(lows, np.uint64)[local],
        high=np.array(highs, np.uint64)[local],
        trait=np.array(traits, np.int64)[local],
        role=role,
        first=first,
        openings=openings,
        wholes=wholes,
        known=np.repeat(~colon, np.diff(np.append(openings, len(role)))),
        clause=_Sides(*(np.searchsorted(openings, place, "right") - 1 for place in places)),
        whole=_Sides(*(np.searchsorted(whole[wholes], read.whole[side]) for side in (left, right))),
    )


def _goes_on_after_comma(role: Ids, first: Flags, openings: Ids) -> Flags:
    """Which openings are a comma that parts nothing: "and" follows, and then no word that begins a clause."""
    last = len(role) - 1
    one, two = np.minimum(openings + 1, last), np.minimum(openings + 2, last)
    goes_on = ((role[openings] & Role.COMMA) != 0) & ((role[one] & Role.LINKS) != 0) & ((role[two] & Role.STARTS) == 0)
    within: Flags = goes_on & ~first[openings] & ~first[one] & ~first[two] & (openings + 2 <= last)
    return within


def sift(read: Sentences, left: Ids, right: Ids, kinds: Kinds) -> Flags:
    """Which pairs of stretches may conflict by what their clauses surely say; wherever there is doubt, they may."""
    if not len(left):
        return np.zeros(0, np.bool_)
    stream = _laid_out(read, left, right)
    # what is read with the number before it is no word
    before = np.where(stream.first, 0, np.append(0, stream.trait[:-1]))
    taken = stream.has(Trait.UNIT) & (before & int(Trait.NUMBER) != 0)
    word = stream.has(Trait.WORD) & (stream.low | stream.high != 0) & ~taken
    sizes = np.diff(np.append(stream.wholes, len(word)))
    conditional = np.bitwise_or.reduceat(stream.trait, stream.wholes) & int(Trait.CONDITION) != 0
    sure = stream.has(Trait.SURE) & stream.known & ~np.repeat(conditional, sizes)
    opens = np.zeros(len(word), np.bool_)
    opens[stream.wholes] = True
    # a clause that may go on with what comes before has its subject there
    in_front = in_subject(stream.role, stream.openings)
    in_front &= np.repeat(opens[stream.openings], np.diff(np.append(stream.openings, len(word))))
    may = _may_conflict(stream, kinds, word, sure, in_front)
    conditions = stream.held(Trait.SURE_CONDITION, in_clause=True), stream.held(Trait.CONDITION)
    for surely, perhaps in ((0, 1), (1, 0)):
        may &= ~conditions[0][surely] | conditions[1][perhaps]
    nameless = _nameless(stream, in_front)
    vague = (read.vague[left] | nameless[stream.clause.one]).astype(np.int64)
    vague += read.vague[right] | nameless[stream.clause.other]
    may &= _enough_in_common(stream, word, vague, may)
    owners = read.owner[left], read.owner[right]
    plain = np.ones(len(read.written), np.bool_)
    asked = np.unique(np.concatenate(owners)).tolist()
    plain[[number for number in asked if not PLAIN.fullmatch(read.written[number])]] = False
    may |= ~(plain[owners[0]] & plain[owners[1]])
    may |= np.logical_or(*stream.held(Trait.DOUBT))
    return may


def _nameless(stream: _Stream, in_front: Flags) -> Flags:
    """Which clauses surely say "its" of a subject that no word names."""
    colon = np.bitwise_or.reduceat(stream.role, stream.wholes) & Role.COLON != 0
    whole = np.searchsorted(stream.wholes, stream.openings, "right") - 1
    owned, headed, worded = (
        np.logical_or.reduceat(flags, stream.openings)
        for flags in (stream.has(Trait.OWNED), in_front, in_front & stream.has(Trait.WORD))
    )
    nameless: Flags = owned & headed & ~worded & ~colon[whole]
    return nameless


def _orders(stream: _Stream) -> tuple[Flags, Flags]:
    """Whether each side's clause surely tells somebody what to do."""
    last = len(stream.trait) - 1
    follows = stream.has(Trait.FOLLOWS)
    follows[1:] &= stream.has(Trait.PLURAL)[:-1]
    second = stream.role[np.minimum(stream.wholes + 1, last)] & Role.FINITE == 0
    orders = (
        (stream.has(Trait.LEADS) & stream.known)[stream.wholes]
        & second
        & ~np.logical_or.reduceat(follows, stream.wholes)
    )
    one, other = (
        orders[wholes] & (stream.openings[rows] == stream.wholes[wholes])
        for rows, wholes in zip(stream.clause, stream.whole, strict=True)
    )
    return one, other


def _may_conflict(stream: _Stream, kinds: Kinds, word: Flags, sure: Flags, in_front: Flags) -> Flags:
    """Whether what each side says alone leaves room for one of the kinds of conflict that the pair may be."""
    identifier = stream.has(Trait.IDENTIFIER)
    own, own_small = stream.beyond(sure, word), stream.beyond(sure & stream.has(Trait.SMALL), word)
    front, named_front = stream.beyond(sure & in_front, word), stream.beyond(identifier & in_front, identifier)
    two_things = stream.beyond(identifier, identifier).fewer > 0
    two_numbers = _numbers_apart(stream)
    told_apart = two_things | two_numbers
    two_subjects = (front.one + named_front.one > 0) & (front.other + named_front.other > 0)
    framed = ~two_subjects & (two_things | _may_be_framed(stream, word, sure))
    vague = np.logical_or(*stream.held(Trait.STANDS_IN))
    beside = (own.fewer == 0) & (own.more <= _BESIDE) & ((front.more == 0) | vague)
    beside &= (named_front.more == 0) | (own.more == 0)
    # of what is to be done, several may hold at once
    named = kinds.named | kinds.held | (kinds.swapped & ~np.logical_or(*_orders(stream)))
    for small, all_own in zip(own_small, own, strict=True):
        named &= (small == 0) | (all_own <= 1)
    negated = kinds.negated & (own.fewer == 0) & (own.more <= _DENIED) & (front.more == 0) & (named_front.more == 0)
    opposed = kinds.opposed & (own.fewer <= _OPPOSED) & (own.more <= _BESIDE)
    may: Flags = (opposed | negated | named) & ~told_apart
    may |= kinds.valued & (beside | framed) & ~(two_things & two_numbers)
    return may | _may_have_ended(stream, own)


def _may_have_ended(stream: _Stream, own: _Sides) -> Flags:
    """Whether one side may say that what the other says ended."""
    commas = np.bitwise_or.reduceat(stream.role, stream.wholes) & Role.COMMA != 0
    moved = [np.logical_and(*both) for both in zip(stream.held(Trait.MOVES), stream.held(Trait.FROM), strict=True)]
    found = np.zeros(len(own.one), np.bool_)
    sides = zip(stream.held(Trait.CUE), stream.held(Trait.DISPLACES), moved, stream.whole, own, own.turned, strict=True)
    for cue, displaces, moves, whole, over, still in sides:
        found |= cue & (still <= _STILL) & (displaces | moves | commas[whole] | (over <= 1))
    return found


def _numbers_apart(stream: _Stream) -> Flags:
    """Whether each side has a number that the other has not, all of them with the same units or with none."""
    number = stream.has(Trait.NUMBER)
    mixed = (stream.low ^ (stream.high * _SPREAD)) * _SPREAD
    units = np.where(np.append(stream.has(Trait.UNIT)[1:], False), np.append(mixed[1:], _NONE), _NONE)
    united = np.bitwise_or.reduceat(np.where(number, np.uint64(1) << (units >> _TOP), _NONE), stream.wholes)
    apart: Flags = (stream.beyond(number, number).fewer > 0) & (united[stream.whole.one] == united[stream.whole.other])
    return apart & ~np.logical_or(*stream.held(Trait.UNSURE_NUMBER | Trait.ABOUT))


def _may_be_framed(stream: _Stream, word: Flags, sure: Flags) -> Flags:
    """Whether the words next to the one number of each side may be the same, some before it and four in all."""
    number = stream.has(Trait.NUMBER)
    numbers, values = stream.counted(number), stream.counted(stream.has(Trait.VALUE | Trait.UNSURE_NUMBER))
    known = (numbers.fewer == 1) & (numbers.more == 1) & (values.more == 0)
    around = np.flatnonzero(word | number | stream.has(Trait.IDENTIFIER))
    group = np.searchsorted(stream.wholes, around, "right") - 1
    certain = (sure | stream.has(Trait.IDENTIFIER))[around]
    # a word said twice stands where it was said first
    mixed = ((stream.low ^ (stream.high * _SPREAD)) * _SPREAD)[around]
    order = np.lexsort((mixed, group))
    again = (np.diff(group[order], prepend=-1) == 0) & (np.diff(mixed[order], prepend=_NONE) == 0)
    certain[order[again]] = False
    place = np.zeros(len(stream.wholes), np.int64)
    at = np.flatnonzero(number[around])
    place[group[at]] = at
    ones, others = place[stream.whole.one], place[stream.whole.other]
    agreeing = []
    for step in (-1, 1):
        going, sure_so_far = np.ones(len(ones), np.bool_), np.ones(len(ones), np.bool_)
        count = np.zeros(len(ones), np.int64)
        for far in range(1, _FRAME + 1):
            one, other = (np.clip(side + far * step, 0, len(around) - 1) for side in (ones, others))
            there = (group[one] == stream.whole.one) & (group[other] == stream.whole.other)
            there &= (one == ones + far * step) & (other == others + far * step)
            sure_so_far &= certain[one] & certain[other]
            going &= there & ~(sure_so_far & (mixed[one] != mixed[other]))
            count += going
        agreeing.append(count)
    framed: Flags = (agreeing[0] > 0) & (agreeing[0] + agreeing[1] >= _FRAME) | ~known
    return framed


def _enough_in_common(stream: _Stream, word: Flags, vague: Ids, asked: Flags) -> Flags:
    """Whether the sides may share as many words as clauses need that speak of something they do not name."""
    enough = np.ones(len(vague), np.bool_)
    ends = np.append(stream.wholes, len(word)).tolist()
    said: dict[int, frozenset[str]] = {}
    for pair in np.flatnonzero(asked & (vague > 0)).tolist():
        for whole in (int(stream.whole.one[pair]), int(stream.whole.other[pair])):
            if whole not in said:
                places = range(ends[whole], ends[whole + 1])
                said[whole] = frozenset(stream.stems[place] for place in places if word[place])
        one, other = said[int(stream.whole.one[pair])], said[int(stream.whole.other[pair])]
        forms = sum(any(alike(stem, twin) for twin in other - one) for stem in one - other)
        enough[pair] = len(one & other) + 2 * forms >= PLENTY * vague[pair]
    return enough
