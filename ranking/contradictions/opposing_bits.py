from collections.abc import Sequence
from zlib import crc32

import numpy as np
import numpy.typing as npt

from ranking.contradictions.opposition import DENYING, Oppositions, undenied

Bits = npt.NDArray[np.uint64]
_WORD = 64
_HALF = 32


def opposing_bits(keys: Sequence[str], oppositions: Oppositions) -> tuple[Bits, Bits]:
    """For every word the bits that it has as one side of a pair, and the bits of those it is opposed to."""
    sides, width = _sides(oppositions)
    opposed, against = np.zeros((2, len(keys), width + 1), np.uint64)
    for at, key in enumerate(keys):
        if key in sides:
            opposed[at, :width], against[at, :width] = sides[key]
    _mark_denied(keys, opposed, against)
    return opposed, against


def _mark_denied(keys: Sequence[str], opposed: Bits, against: Bits) -> None:
    """Give a word and the same word with a denying prefix opposite bits, in the last column."""
    known = set(keys)
    denied = {key: bare for key in known if key.startswith(DENYING) and (bare := undenied(key)) in known}
    places: dict[str, list[int]] = {key: [] for pair in denied.items() for key in pair}
    for at, key in enumerate(keys if denied else ()):
        if key in places:
            places[key].append(at)
    for key, bare in denied.items():
        said, denial = (np.uint64(1 << (crc32(bare.encode("utf-8", "replace")) % _HALF + half)) for half in (0, _HALF))
        for rows, own, other in ((places[bare], said, denial), (places[key], denial, said)):
            opposed[rows, -1] |= own
            against[rows, -1] |= other


def _sides(oppositions: Oppositions) -> tuple[dict[str, tuple[Bits, Bits]], int]:
    """For every opposed word a bit of its own and the bits of those it is opposed to."""
    place = {word: number for number, word in enumerate(sorted(oppositions.against))}
    width = max(1, -(-len(place) // _WORD))
    sides = {}
    for word, others in oppositions.against.items():
        own, against = np.zeros(width, np.uint64), np.zeros(width, np.uint64)
        own[place[word] // _WORD] = np.uint64(1 << place[word] % _WORD)
        for other in others:
            against[place[other] // _WORD] |= np.uint64(1 << place[other] % _WORD)
        sides[word] = (own, against)
    for tail, compounds in oppositions.tails.items():
        known = [sides[word] for word in (*compounds, tail) if word in sides]
        own, against = (np.bitwise_or.reduce(bits) for bits in zip(*known, strict=True))
        sides[tail] = (own, against)
    return sides, width
