from collections.abc import Iterator
from functools import reduce
from itertools import combinations
from operator import or_
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from ranking.contradictions.judging import PLENTY
from ranking.contradictions.sentences import Identities, Sentences
from ranking.contradictions.vocabulary import HOLDER_BITS, Bits, Flags, Ids

# of a word that more sentences share, only those count that share a second one too; bounds the work per word
_CROWD = 40
_RAREST = 6
_NEAREST = 2
_FEW = 2
_BLOCK = 1 << 18
_TWOS = tuple(combinations(range(_RAREST), 2))
_THREES = tuple(combinations(range(_RAREST), 3))
Pairs = tuple[Ids, Ids]


def _within_groups(groups: Ids, members: Ids, most: int = _CROWD) -> tuple[Pairs, Ids]:
    """Every pair of members of one group, for groups of two to ``most``; and the members of larger groups."""
    order = np.argsort(groups, kind="stable")
    groups, members = groups[order], members[order]
    starts = np.flatnonzero(np.diff(groups, prepend=groups[:1] - 1)) if len(groups) else np.zeros(0, np.int64)
    sizes = np.diff(np.append(starts, len(groups)))
    fits = (sizes > 1) & (sizes <= most)
    left, right = _all_pairs(starts[fits], sizes[fits])
    crowded = np.repeat(sizes > most, sizes)
    return (members[left], members[right]), order[crowded]


def _all_pairs(starts: Ids, sizes: Ids) -> Pairs:
    """Positions of all pairs inside runs of these starts and sizes, the runs of one size at a time."""
    lefts, rights = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for size in np.unique(sizes).tolist():
        one, other = np.triu_indices(size, 1)
        first = starts[sizes == size][:, None]
        lefts.append((first + one).ravel())
        rights.append((first + other).ravel())
    return np.concatenate(lefts), np.concatenate(rights)


def _rarest(rows: Ids, stems: Ids, frequency: Ids, count: int) -> npt.NDArray[np.int64]:
    """For every sentence the stems of its rarest common words, -1 where it has fewer."""
    order = np.lexsort((stems, frequency[stems], rows))
    rows, stems = rows[order], stems[order]
    first = np.searchsorted(rows, np.arange(count))
    place = np.arange(len(rows)) - first[rows] if len(rows) else np.zeros(0, np.int64)
    table = np.full((count, _RAREST), -1, np.int64)
    kept = place < _RAREST
    table[rows[kept], place[kept]] = stems[kept]
    return np.sort(table, axis=1)


def _combined(
    table: npt.NDArray[np.int64], rows: Ids, width: int, columns: tuple[tuple[int, ...], ...]
) -> tuple[Ids, Ids]:
    """Keys of combinations of a sentence's words, and the sentence of each key."""
    keys, owners = [], []
    for chosen in columns:
        parts = table[rows][:, list(chosen)]
        whole = (parts >= 0).all(axis=1)
        key = np.zeros(int(whole.sum()), np.int64)
        for column in range(len(chosen)):
            key = key * np.int64(width) + parts[whole, column]
        keys.append(key)
        owners.append(rows[whole])
    return np.concatenate(keys), np.concatenate(owners)


def near_sentences(read: Sentences, threshold: float) -> Iterator[Pairs]:
    """Pairs of sentences that may be about one thing and conflict, from an inverted index: no step sees all pairs."""
    count, width = read.words.shape
    stems = read.words.indices.astype(np.int64)
    rows = np.repeat(np.arange(count), np.diff(read.words.indptr))
    frequency = np.bincount(stems, minlength=width)
    rare = frequency[stems] <= _CROWD
    pairs, _ = _within_groups(stems[rare], rows[rare])
    yield _possible(read, pairs, threshold)
    table = _rarest(rows[~rare], stems[~rare], frequency, count)
    everyone = crowd = np.flatnonzero(table[:, -1] >= 0)
    for columns in (_TWOS, _THREES):
        if not len(crowd):
            break
        keys, owners = _combined(table, crowd, width, columns)
        pairs, left = _within_groups(keys, owners)
        yield _possible(read, pairs, threshold, common=True)
        crowd = np.unique(owners[left])
    for pairs in _alike(read, table, everyone):
        yield _possible(read, pairs, threshold, common=True)


def _alike(read: Sentences, table: npt.NDArray[np.int64], rows: Ids) -> Iterator[Pairs]:
    """Of sentences with the same common words, too many to compare: each with the few that follow it.

    Those that deny, oppose or say that something ended are few, and are all compared with each other.
    """
    order = rows[np.lexsort((rows, *table[rows].T))]
    for step in range(1, _NEAREST + 1):
        same = (table[order[:-step]] == table[order[step:]]).all(axis=1)
        yield order[:-step][same], order[step:][same]
    group = np.cumsum((np.diff(table[order], axis=0, prepend=-2) != 0).any(axis=1)) if len(order) else order
    telling = _some(read.opposed[order]) | (read.negators[order] > 0) | read.cued[order]
    yield _within_groups(group[telling], order[telling])[0]


def _some(bits: Bits | Flags) -> Flags:
    """Which rows have a bit, of one number or of a few: a column at a time, for rows of a few take long to reduce."""
    some: Flags = (bits if bits.ndim == 1 else reduce(or_, bits.T)) != 0
    return some


def _apart(one: Bits, other: Bits) -> Flags:
    """Whether each side has what the other has not, by one bit of it or by either of two."""
    return _some(one & ~other) & _some(other & ~one)


def _twice_apart(one: Bits, other: Bits) -> Flags:
    return _some(np.bitwise_count(one & ~other) > 1) & _some(np.bitwise_count(other & ~one) > 1)


def _other_subject(one: Identities, other: Identities) -> Flags:
    """Whether one side's subject is an identifier that the other does not name."""
    return _some((one.subjects & ~other.things) | (other.subjects & ~one.things))


class _Difference(NamedTuple):
    """How far the words of two clauses may differ, on the side with fewer of its own and on the other."""

    fewer: int
    more: int


# what judging allows beside the conflict itself, and the words of the conflict
_OPPOSED, _NEGATED, _CUED, _VALUED = _Difference(1, 4), _Difference(0, 2), _Difference(2, 4), _Difference(1, 5)
_NAMED, _SWAPPED, _HELD = _Difference(3, 4), _Difference(2, 2), _Difference(1, 1)


class _Kinds(NamedTuple):
    """Which kinds of conflict each pair of stretches may be."""

    opposed: Flags
    negated: Flags
    cued: Flags
    valued: Flags
    named: Flags
    swapped: Flags
    held: Flags

    @property
    def any_kind(self) -> Flags:
        return reduce(or_, self)

    def at(self, kept: Ids | Flags) -> "_Kinds":
        return _Kinds(*(flags[kept] for flags in self))

    def fit(self, one: Ids, other: Ids) -> Flags:
        """Whether sides that differ in so many words may conflict in one of the ways they could."""
        fewer, more = np.minimum(one, other), np.maximum(one, other)
        limits = (_OPPOSED, _NEGATED, _CUED, _VALUED, _NAMED, _SWAPPED, _HELD)
        fits = [
            flags & (fewer <= limit.fewer) & (more <= limit.more) for flags, limit in zip(self, limits, strict=True)
        ]
        return reduce(or_, fits)


def _any_chance(read: Sentences, pairs: Pairs) -> Pairs:
    """The pairs left by a quick look: most words shared by two sentences are shared by two that cannot conflict."""
    holds = (
        _some(read.opposed), _some(read.values), _some(read.names), read.marked, read.coarse.things != 0,
        (read.frames & HOLDER_BITS) != 0,
    )  # fmt: skip
    both = np.packbits(holds, axis=0)[0]
    either = (read.negators > 0) | read.cued
    left, right = pairs
    chance = ((both[left] & both[right]) != 0) | either[left] | either[right]
    return left[chance], right[chance]


def _kinds(read: Sentences, identities: Identities, left: Ids, right: Ids) -> _Kinds:
    one, other = identities.at(left), identities.at(right)
    frames = read.frames[left] & read.frames[right]
    opposed = _some(read.opposed[left] & read.against[right])
    negated = read.negators[left] != read.negators[right]
    # where two numbers or identifiers differ on both sides, two things are spoken of
    numbers, things = (one.numbers, other.numbers), (one.things, other.things)
    identified = _apart(*things)
    one_thing = ~_twice_apart(*numbers) & ~identified
    identified &= ~_twice_apart(*things) & ~_apart(*numbers) & ~_other_subject(one, other) & ~opposed & ~negated
    swapped = _apart(read.names[left], read.names[right]) & one_thing
    holder = ((frames & HOLDER_BITS) != 0) & _some(read.names[left] | read.names[right])
    return _Kinds(
        opposed=opposed & one_thing,
        negated=negated & one_thing,
        cued=read.cued[left] != read.cued[right],
        valued=(_apart(read.values[left], read.values[right]) & one_thing) | identified,
        named=((frames != 0) & swapped) | (read.marked[left] & read.marked[right] & one_thing),
        swapped=swapped,
        held=holder & one_thing,
    )


def _possible(read: Sentences, pairs: Pairs, threshold: float, *, common: bool = False) -> Pairs:
    """The pairs of sentences that hold what one of the four kinds of conflict needs, and agree in enough words."""
    left, right = _any_chance(read, pairs)
    kinds = _kinds(read, read.coarse, left, right)
    apart = (read.home[left] != read.home[right]) & kinds.any_kind
    # what is only a heading says nothing, unless that something ended
    apart &= (read.told[left] | read.cued[left]) & (read.told[right] | read.cued[right])
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
    alone = np.where(one <= other, read.alone[left], read.alone[right])
    short = (smaller <= _FEW) & alone
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
    left, right = left[near], right[near]
    # of one bit each, two numbers or identifiers of 64 are taken for one: what is left is looked at more closely
    return _of_one_thing(read, left, right, _kinds(read, read.fine, left, right), threshold)


def _of_one_thing(read: Sentences, left: Ids, right: Ids, kinds: _Kinds, threshold: float) -> Pairs:
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
    kept = (
        fits & (shared >= PLENTY * vague) & (shared >= threshold * (np.minimum(ones, others) - read.beside[left] - 1))
    )
    return read.owner[left[kept]], read.owner[right[kept]]


def _in_common(one: tuple[csr_array, Ids], other: tuple[csr_array, Ids]) -> Ids:
    """How many words the rows of each pair have in common, each row out of a table."""
    counts = [np.zeros(0, np.int64)]
    for start in range(0, len(one[1]), _BLOCK):
        rows = slice(start, start + _BLOCK)
        both = one[0][one[1][rows]].multiply(other[0][other[1][rows]])
        counts.append(np.diff(both.tocsr().indptr).astype(np.int64))
    return np.concatenate(counts)
