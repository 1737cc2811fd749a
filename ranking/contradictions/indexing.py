from collections.abc import Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ranking.contradictions.sentences import Sentences
from ranking.contradictions.vocabulary import Ids, some

# of a word that more sentences share, only those count that share a second one too; bounds the work per word
_CROWD = 40
_RAREST = 6
_NEAREST = 2
_TWOS = tuple(combinations(range(_RAREST), 2))
_THREES = tuple(combinations(range(_RAREST), 3))
# places in _TWOS of the three twos of each three
_TWOS_OF = tuple(tuple(_TWOS.index(two) for two in combinations(three, 2)) for three in _THREES)
# bits of the place of a two beside the number of its stretch
_PLACE = len(_TWOS).bit_length()
_SIGNED = 63
Pairs = tuple[Ids, Ids]
Table = npt.NDArray[np.int64]


def _bits(numbers: Ids) -> int:
    return int(numbers.max(initial=0)).bit_length()


def _within_groups(groups: Ids, members: Ids) -> tuple[Pairs, Ids]:
    """Every pair of members of one group, for groups of two to ``_CROWD``; and the members of larger groups."""
    width = _bits(members)
    if _bits(groups) + width > _SIGNED:
        groups = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    # both in one number: sorting those takes a tenth of sorting the places of one by the other
    packed = np.sort((groups << width) | members)
    groups, members = packed >> width, packed & ((1 << width) - 1)
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    sizes = np.diff(starts, append=len(groups))
    fits = (sizes > 1) & (sizes <= _CROWD)
    left, right = _all_pairs(starts[fits], sizes[fits])
    return (members[left], members[right]), members[np.repeat(sizes > _CROWD, sizes)]


def _all_pairs(starts: Ids, sizes: Ids) -> Pairs:
    """Positions of all pairs inside runs of these starts and sizes, the runs of one size at a time."""
    lefts, rights = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for size in np.flatnonzero(np.bincount(sizes)).tolist():
        one, other = np.triu_indices(size, 1)
        first = starts[sizes == size][:, None]
        lefts.append((first + one).ravel())
        rights.append((first + other).ravel())
    return np.concatenate(lefts), np.concatenate(rights)


def _rarest(rows: Ids, stems: Ids, frequency: Ids, count: int) -> Table:
    """For every stretch its rarest common words, the rarest first, as places among all by rarity; -1 for none."""
    rarity = np.empty(len(frequency), np.int64)
    rarity[np.lexsort((np.arange(len(frequency)), frequency))] = np.arange(len(frequency))
    width = _bits(rarity)
    packed = np.sort((rows << width) | rarity[stems])
    rows, ranks = packed >> width, packed & ((1 << width) - 1)
    first = np.searchsorted(rows, np.arange(count))
    place = np.arange(len(rows)) - first[rows]
    table = np.full((count, _RAREST), -1, np.int64)
    kept = place < _RAREST
    table[rows[kept], place[kept]] = ranks[kept]
    return table


def candidates(read: Sentences) -> Iterator[tuple[Pairs, bool]]:
    """Pairs of stretches that share a word few others hold, or else two or three; and whether those are common."""
    count, width = read.words.shape
    stems = read.words.indices.astype(np.int64)
    rows = np.repeat(np.arange(count), np.diff(read.words.indptr))
    frequency = np.bincount(stems, minlength=width)
    common = frequency > _CROWD
    held = common[stems]
    yield _within_groups(stems[~held], rows[~held])[0], False
    places = np.cumsum(common) - 1
    table = _rarest(rows[held], places[stems[held]], frequency[common], count)
    everyone = np.flatnonzero(table[:, 0] >= 0)
    if not len(everyone):
        return
    # room for one more than there are, since -1 is none
    columns, width = np.ascontiguousarray(table.T), (int(common.sum()) + 1).bit_length()
    (left, right), crowded = _within_groups(*_twos(columns, everyone, width))
    yield (left >> _PLACE, right >> _PLACE), True
    if len(crowded):
        yield _within_groups(*_threes(columns, crowded, width))[0], True
    for pairs in _alike(read, columns, everyone, width):
        yield pairs, True


def _twos(columns: Table, rows: Ids, width: int) -> tuple[Ids, Ids]:
    """Keys of every two common words of a stretch, and the stretch with the place of each key."""
    keys, owners = [], []
    for place, (one, other) in enumerate(_TWOS):
        held = rows[columns[other, rows] >= 0]
        keys.append((columns[one, held] << width) | columns[other, held])
        owners.append((held << _PLACE) | place)
    return np.concatenate(keys), np.concatenate(owners)


def _threes(columns: Table, crowded: Ids, width: int) -> tuple[Ids, Ids]:
    """Keys of every three common words of a stretch of which many hold any two: of the rest all pairs are known."""
    many = np.zeros((columns.shape[1], 1 << _PLACE), np.bool_)
    many.ravel()[crowded] = True
    keys, owners = [], []
    for (one, two, three), twos in zip(_THREES, _TWOS_OF, strict=True):
        held = np.flatnonzero(many[:, twos].all(axis=1))
        keys.append((((columns[one, held] << width) | columns[two, held]) << width) | columns[three, held])
        owners.append(held)
    return np.concatenate(keys), np.concatenate(owners)


def _alike(read: Sentences, columns: Table, rows: Ids, width: int) -> Iterator[Pairs]:
    """Of stretches with the same common words, too many to compare: each with the few that follow it.

    Those that deny, oppose or say that something ended are few, and are all compared with each other.
    """
    one, two, three, four, five, six = columns[:, rows] + 1
    keys = ((((one << width) | two) << width) | three, (((four << width) | five) << width) | six)
    sorting = np.lexsort(keys)
    order, (first, second) = rows[sorting], (key[sorting] for key in keys)
    for step in range(1, _NEAREST + 1):
        same = (first[:-step] == first[step:]) & (second[:-step] == second[step:])
        yield order[:-step][same], order[step:][same]
    group = np.cumsum((np.diff(first, prepend=-1) != 0) | (np.diff(second, prepend=-1) != 0))
    telling = some(read.opposed[order]) | (read.negators[order] > 0) | read.cued[order]
    yield _within_groups(group[telling], order[telling])[0]
