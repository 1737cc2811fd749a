from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ranking.contradictions.sentences import Sentences
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
    telling = read.opposed[order].any(axis=1) | (read.negators[order] > 0) | read.cued[order]
    yield _within_groups(group[telling], order[telling])[0]


def _apart(one: Bits, other: Bits) -> Flags:
    apart: Flags = ((one & ~other) != 0) & ((other & ~one) != 0)
    return apart


def _twice_apart(one: Bits, other: Bits) -> Flags:
    twice: Flags = (np.bitwise_count(one & ~other) > 1) & (np.bitwise_count(other & ~one) > 1)
    return twice


class _Difference(NamedTuple):
    """How far the words of two clauses may differ, on the side with fewer of its own and on the other."""

    fewer: int
    more: int


# what judging allows beside the conflict itself, and the words of the conflict
_OPPOSED, _NEGATED, _CUED, _VALUED = _Difference(1, 4), _Difference(0, 2), _Difference(2, 4), _Difference(1, 5)
_NAMED, _SWAPPED, _HELD = _Difference(3, 4), _Difference(2, 2), _Difference(1, 1)


def _possible(read: Sentences, pairs: Pairs, threshold: float, *, common: bool = False) -> Pairs:
    """The pairs of sentences that hold what one of the four kinds of conflict needs, and agree in enough words."""
    left, right = pairs
    frames = read.frames[left] & read.frames[right]
    opposed = ((read.opposed[left] & read.against[right]) != 0).any(axis=1)
    negated = read.negators[left] != read.negators[right]
    cued = read.cued[left] != read.cued[right]
    # where two numbers differ on both sides, two things are spoken of
    one_thing = ~_twice_apart(read.numbers[left], read.numbers[right])
    valued = _apart(read.values[left], read.values[right]) & one_thing
    swapped = _apart(read.names[left], read.names[right]) & one_thing
    named = ((frames != 0) & swapped) | (read.marked[left] & read.marked[right] & one_thing)
    held = ((frames & HOLDER_BITS) != 0) & ((read.names[left] | read.names[right]) != 0)
    any_kind = opposed | negated | cued | valued | named | swapped | held
    apart = read.home[left] != read.home[right]
    if common:
        # of many that share their words, "cart-12" and "cart-34" are two things
        numbers = (read.numbers[left], read.numbers[right])
        unlike = (numbers[0] != 0) & (numbers[1] != 0) & ((numbers[0] & numbers[1]) == 0)
        apart &= ~(read.marked[left] & read.marked[right] & unlike)
    kept = np.flatnonzero(apart & any_kind)
    # one pair may share several words
    low, high = np.minimum(left[kept], right[kept]), np.maximum(left[kept], right[kept])
    keys, first = np.unique(low * np.int64(len(read.owner)) + high, return_index=True)
    kept = kept[first]
    left, right = keys // len(read.owner), keys % len(read.owner)
    shared = _shared(read, left, right)
    sizes = np.diff(read.words.indptr)
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
    fewer, more = np.minimum(one, other), np.maximum(one, other)

    def within(limit: _Difference) -> Flags:
        fits: Flags = (fewer <= limit.fewer) & (more <= limit.more)
        return fits

    alike = (
        (opposed[kept] & within(_OPPOSED))
        | (negated[kept] & within(_NEGATED))
        | (cued[kept] & within(_CUED))
        | (valued[kept] & within(_VALUED))
        | (named[kept] & (fewer > 0) & within(_NAMED))
        | (swapped[kept] & (fewer > 0) & within(_SWAPPED))
        | (held[kept] & within(_HELD))
    )
    near = (near & alike) | (valued[kept] & (more == 0))
    return read.owner[left[near]], read.owner[right[near]]


def _shared(read: Sentences, left: Ids, right: Ids) -> Ids:
    """How many words the sentences of each pair have in common."""
    counts = [np.zeros(0, np.int64)]
    for start in range(0, len(left), _BLOCK):
        both = read.words[left[start : start + _BLOCK]].multiply(read.words[right[start : start + _BLOCK]])
        counts.append(np.diff(both.tocsr().indptr).astype(np.int64))
    return np.concatenate(counts)
