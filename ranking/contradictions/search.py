from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from ranking.contradictions.indexing import Pairs, candidates
from ranking.contradictions.judging import PLENTY
from ranking.contradictions.kinds import BOTH, EITHER, OPPOSED, TOLD, Kinds, fitting
from ranking.contradictions.sentences import Identities, Sentences
from ranking.contradictions.sifting import sift
from ranking.contradictions.vocabulary import HOLDER_BITS, Bits, Flags, Ids, some

_FEW = 2
_BLOCK = 1 << 18


def near_sentences(read: Sentences, threshold: float) -> Pairs:
    """Pairs of sentences that may be about one thing and conflict, from an inverted index: no step sees all pairs."""
    glance = _glance(read)
    by_one: list[Pairs] = []
    by_several: list[Pairs] = []
    for pairs, common in candidates(read):
        (by_several if common else by_one).append(_any_chance(glance, pairs))
    possible = [
        _possible(read, glance, _all(found), threshold, common=common)
        for found, common in ((by_one, False), (by_several, True))
        if found
    ]
    left, right = _all(possible)
    # of one bit each, two numbers or identifiers of 64 are taken for one: what is left is looked at more closely
    return _of_one_thing(read, left, right, _kinds(read, glance, read.fine, left, right), threshold)


def _all(pairs: list[Pairs]) -> Pairs:
    left, right = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return left, right


def _apart(one: Bits, other: Bits) -> Flags:
    """Whether each side has what the other has not, by one bit of it or by either of two."""
    return some(one & ~other) & some(other & ~one)


def _twice_apart(one: Bits, other: Bits) -> Flags:
    return some(np.bitwise_count(one & ~other) > 1) & some(np.bitwise_count(other & ~one) > 1)


def _other_subject(one: Identities, other: Identities) -> Flags:
    """Whether one side's subject is an identifier that the other does not name."""
    return some((one.subjects & ~other.things) | (other.subjects & ~one.things))


class _Glance(NamedTuple):
    """What shows quickly that two stretches cannot conflict, as most cannot that share a word.

    ``holds`` has a bit for each thing that both must hold, one for what either may hold alone, one for what both must
    do, tell something; ``said`` has a bit for each word that is neither weak nor an identifier.
    """

    holds: npt.NDArray[np.uint8]
    home: Ids
    said: Bits
    opposed: Bits
    against: Bits
    identities: Identities
    cued: Flags


def _glance(read: Sentences) -> _Glance:
    flags = (
        some(read.opposed),
        some(read.values),
        some(read.names),
        read.marked,
        read.coarse.things != 0,
        (read.frames & HOLDER_BITS) != 0,
        (read.negators > 0) | read.cued,
        # what is only a heading says nothing, unless that something ended
        read.told | read.cued,
    )
    # opposed words share bits here
    opposed, against = (np.bitwise_or.reduce(bits.T) for bits in (read.opposed, read.against))
    return _Glance(np.packbits(flags, axis=0)[0], read.home, read.said, opposed, against, read.coarse, read.cued)


def _any_chance(glance: _Glance, pairs: Pairs) -> Pairs:
    """The pairs left by a quick look."""
    left, right = pairs
    one, other = glance.holds[left], glance.holds[right]
    both = one & other
    held = (both & BOTH) | ((one | other) & EITHER)
    kept = np.flatnonzero((held != 0) & ((both & TOLD) != 0))
    left, right, held = left[kept], right[kept], held[kept]
    held &= fitting(*_unshared(glance.said, left, right))
    near = np.flatnonzero((held != 0) & (glance.home[left] != glance.home[right]))
    left, right = left[near], right[near]
    opposed = (glance.opposed[left] & glance.against[right]) != 0
    near = np.flatnonzero(opposed | ((held[near] & ~OPPOSED) != 0))
    left, right = left[near], right[near]
    # of two things only one side can say that something ended, or each names the other's but for one
    ones, others = (Identities(*(bits[side] for bits in glance.identities)) for side in (left, right))
    two = _apart(ones.things, others.things)
    two &= _twice_apart(ones.things, others.things) | _other_subject(ones, others)
    kept = ~two | (glance.cued[left] != glance.cued[right])
    return left[kept], right[kept]


def _unshared(said: Bits, left: Ids, right: Ids) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """At least how many words each side of a pair has that the other has not: words may share a bit."""
    one, other = said[left], said[right]
    return np.bitwise_count(one & ~other), np.bitwise_count(other & ~one)


def _kinds(read: Sentences, glance: _Glance, identities: Identities, left: Ids, right: Ids) -> Kinds:
    one, other = identities.at(left), identities.at(right)
    frames = read.frames[left] & read.frames[right]
    opposed = (glance.opposed[left] & glance.against[right]) != 0
    at = np.flatnonzero(opposed)
    opposed[at] = some(read.opposed[left[at]] & read.against[right[at]])
    negated = read.negators[left] != read.negators[right]
    # where two numbers or identifiers differ on both sides, two things are spoken of
    numbers, things = (one.numbers, other.numbers), (one.things, other.things)
    identified = _apart(*things)
    one_thing = ~_twice_apart(*numbers) & ~identified
    identified &= ~_twice_apart(*things) & ~_apart(*numbers) & ~_other_subject(one, other) & ~opposed & ~negated
    swapped = _apart(read.names[left], read.names[right]) & one_thing
    holder = (frames & HOLDER_BITS) != 0
    return Kinds(
        opposed=opposed & one_thing,
        negated=negated & one_thing,
        cued=read.cued[left] != read.cued[right],
        valued=(_apart(read.values[left], read.values[right]) & one_thing) | identified,
        named=((frames != 0) & swapped) | (read.marked[left] & read.marked[right] & one_thing),
        swapped=swapped,
        held=holder & one_thing,
    )


def _possible(read: Sentences, glance: _Glance, pairs: Pairs, threshold: float, *, common: bool) -> Pairs:
    """The pairs of stretches that hold what one of the four kinds of conflict needs, and agree in enough words."""
    left, right = pairs
    kinds = _kinds(read, glance, read.coarse, left, right)
    apart = kinds.fit(*_unshared(read.said, left, right))
    if common:
        # of many that share their words, "cart/12" and "cart/34" are two things
        numbers = (read.coarse.numbers[left], read.coarse.numbers[right])
        unlike = (numbers[0] != 0) & (numbers[1] != 0) & ((numbers[0] & numbers[1]) == 0)
        apart &= ~(read.marked[left] & read.marked[right] & unlike)
    kept = np.flatnonzero(apart)
    # one pair may share several words
    low, high = np.minimum(left[kept], right[kept]), np.maximum(left[kept], right[kept])
    keys, first = np.unique(low * np.int64(len(read.owner)) + high, return_index=True)
    kinds = kinds.at(kept[first])
    left, right = keys // len(read.owner), keys % len(read.owner)
    # an identifier is judged as a value, not as a word
    sizes = np.diff(read.words.indptr) - np.bitwise_count(read.identifiers)
    shared = _in_common((read.words, left), (read.words, right))
    shared -= np.bitwise_count(read.identifiers[left] & read.identifiers[right])
    shared = np.maximum(shared, 0)
    one, other = sizes[left] - shared, sizes[right] - shared
    smaller = shared + np.minimum(one, other)
    # of two as long, either will do: which one came first means nothing
    alone = ((one <= other) & read.alone[left]) | ((other <= one) & read.alone[right])
    # a clause of one stretch is all that is said there; of a value its other words must then agree
    sole = np.bincount(read.clause, minlength=1)[read.clause] == 1
    told = kinds.opposed | kinds.negated | kinds.cued | kinds.named | kinds.swapped | kinds.held | (smaller == shared)
    # a cue tells of a whole sentence, whatever else the other one says
    ended = kinds.cued & (read.alone[left] | read.alone[right])
    # where both clauses go on, they may agree in the rest
    short = (smaller <= _FEW) & (alone | ended | ((sole[left] == sole[right]) & told))
    near = shared >= np.maximum(np.where(short, 1, 2), np.ceil(threshold * (smaller - 1)))
    if common:
        # two words that many sentences hold say little: there must be a third, or hardly another in the sentence
        near &= (shared > _FEW) | ((smaller - shared <= 1) & alone)
    # weak words are no difference
    one = one - np.bitwise_count(read.weak[left] & ~read.weak[right])
    other = other - np.bitwise_count(read.weak[right] & ~read.weak[left])
    swaps = (kinds.named | kinds.swapped) & ~(kinds.opposed | kinds.negated | kinds.cued | kinds.valued | kinds.held)
    near &= kinds.fit(one, other) & ~(swaps & (np.minimum(one, other) == 0))
    near |= kinds.valued & (np.maximum(one, other) == 0)
    return left[near], right[near]


def _of_one_thing(read: Sentences, left: Ids, right: Ids, kinds: Kinds, threshold: float) -> Pairs:
    """The sentences of pairs of stretches whose clauses, as far as they surely reach, may agree and conflict too."""
    wholes = read.whole[left], read.whole[right]
    shared = _in_common((read.wholes, wholes[0]), (read.wholes, wholes[1]))
    vague = read.vague[left].astype(np.int64) + read.vague[right]
    sizes = np.diff(read.clauses.indptr)
    ones, others = sizes[read.clause[left]], sizes[read.clause[right]]
    # what one clause surely says, and the other surely does not; neither weak words nor identifiers
    own = ones - _in_common((read.clauses, read.clause[left]), (read.wholes, wholes[1])) - read.beside[left]
    theirs = others - _in_common((read.clauses, read.clause[right]), (read.wholes, wholes[0])) - read.beside[right]
    # the words around a value may make one slot of two clauses that differ in all the rest
    fits = kinds.fit(own, theirs) | kinds.cued | (kinds.valued & (shared >= PLENTY))
    beside = np.maximum(read.beside[left], read.beside[right])
    kept = fits & (shared >= PLENTY * vague) & (shared >= threshold * (np.minimum(ones, others) - beside - 1))
    left, right = left[kept], right[kept]
    kept = sift(read, left, right, kinds.at(kept))
    return read.owner[left[kept]], read.owner[right[kept]]


def _in_common(one: tuple[csr_array, Ids], other: tuple[csr_array, Ids]) -> Ids:
    """How many words the rows of each pair have in common, each row out of a table."""
    counts = [np.zeros(0, np.int64)]
    for start in range(0, len(one[1]), _BLOCK):
        rows = slice(start, start + _BLOCK)
        both = one[0][one[1][rows]].multiply(other[0][other[1][rows]])
        counts.append(np.diff(both.tocsr().indptr).astype(np.int64))
    return np.concatenate(counts)
