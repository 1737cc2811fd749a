import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from ranking.tokens import Arrow, Texts, joined, split_column, text_column

Hashes = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]
# the SimHash of every text, and how many of its tokens voted
Fingerprints = tuple[Hashes, Counts]

FNV_OFFSET = 0xCBF29CE484222325
FNV_PRIME = 0x100000001B3
_WORD = 0xFFFFFFFFFFFFFFFF
# a block's pieces, dictionary and votes fit the processor's caches; larger blocks measured slower
_BLOCK = 16_384
# long texts make smaller blocks: the widest step needs some ten times the bytes of its texts
_BYTES = 1 << 26
_WORKERS = min(4, os.cpu_count() or 1)
# votes are counted in bytes
_MOST_VOTES = 255
# below this many tokens a numpy step costs more than the same step in Python
_FEW = 16
_SHORTEST = 2


def fnv1a64(tokens: Arrow) -> tuple[Hashes, Counts]:
    """64-bit FNV-1a of every token over its UTF-16 code units, and how many units each has.

    ``h = (h xor unit) · 0x100000001b3 mod 2⁶⁴`` from 0xcbf29ce484222325, one step for all tokens that are long enough.
    """
    text = joined(tokens).decode("utf-8", "surrogatepass") + "\n"
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.uint16)
    ends = np.flatnonzero(units == ord("\n"))
    lengths = np.diff(ends, prepend=-1) - 1
    order = np.argsort(-lengths, kind="stable")
    starts, ordered = (ends - lengths)[order], lengths[order]
    hashes = np.full(len(ordered), FNV_OFFSET, np.uint64)
    active, step = len(ordered), 0
    while (active := int(np.searchsorted(-ordered[:active], -step))) >= _FEW:
        head = hashes[:active]
        head ^= units[starts[:active] + step]
        head *= np.uint64(FNV_PRIME)
        step += 1
    for token in range(active):
        value = int(hashes[token])
        for unit in units[starts[token] + step : starts[token] + ordered[token]].tolist():
            value = ((value ^ unit) * FNV_PRIME) & _WORD
        hashes[token] = value
    back = np.empty_like(hashes)
    back[order] = hashes
    return back, lengths


def _votes(indices: npt.NDArray[np.int32], offsets: npt.NDArray[np.int32], ballots: npt.NDArray[np.uint8]) -> Counts:
    """Sum the ballots of every text's pieces; a text of more than 255 pieces is counted in parts."""
    parts = np.maximum(-(-np.diff(offsets) // _MOST_VOTES), 1)
    first = np.cumsum(parts) - parts
    inner = np.arange(parts.sum()) - np.repeat(first, parts)
    bounds = np.append(np.repeat(offsets[:-1], parts) + inner * _MOST_VOTES, offsets[-1])
    ones = np.ones(len(indices), np.uint8)
    sums = csr_array((ones, indices, bounds), shape=(len(bounds) - 1, len(ballots))) @ ballots
    return sums if len(parts) == len(sums) else np.add.reduceat(sums, first, axis=0, dtype=np.int64)


def _numbers(column: Arrow) -> npt.NDArray[np.int32]:
    # not to_numpy: it imports pandas
    return np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column)]


def _block(column: Arrow) -> tuple[Hashes, Counts]:
    if column.nbytes > _BYTES and len(column) > 1:
        half = len(column) // 2
        head, tail = _block(column.slice(0, half)), _block(column.slice(half))
        return np.concatenate((head[0], tail[0])), np.concatenate((head[1], tail[1]))
    pieces = split_column(column)
    coded = pieces.values.dictionary_encode()
    hashes, units = fnv1a64(coded.dictionary)
    counted = units >= _SHORTEST
    ballots = np.zeros((len(hashes), 65), np.uint8)
    ballots[:, :64] = np.unpackbits(hashes.view(np.uint8).reshape(-1, 8), axis=1)
    ballots[:, 64] = 1
    ballots *= counted[:, None]
    sums = _votes(_numbers(coded.indices), _numbers(pieces.offsets), ballots)
    tokens = sums[:, 64]
    # votes are +1 and -1, so a sum above 0 is more than half of the tokens
    bits = sums[:, :64] > (tokens // 2)[:, None]
    return np.packbits(bits, axis=1).view(np.uint64)[:, 0], tokens.astype(np.int64)


def fingerprints(texts: Texts) -> Fingerprints:
    """Each text's SimHash and the number of tokens that voted: 0 tokens is no evidence, though the hash 0 exists."""
    starts = range(0, len(texts), _BLOCK)
    if len(starts) <= 1:
        return _block(text_column(texts))
    # Arrow lets go of the interpreter while it splits and encodes, which is most of the work
    with ThreadPoolExecutor(_WORKERS) as pool:
        parts = list(pool.map(lambda start: _block(text_column(texts[start : start + _BLOCK])), starts))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def simhash64(texts: Texts) -> Hashes:
    """64-bit SimHash of every text: bit b is set iff ``Σ ±1`` over its tokens' FNV-1a bits b is above 0 (Rensei, 000).

    64 bits because 000 counts distances in them; a text without tokens gives 0.
    """
    return fingerprints(texts)[0]


def hamming(left: npt.ArrayLike, right: npt.ArrayLike) -> Counts:
    """Number of bits in which fingerprints differ."""
    return np.bitwise_count(np.bitwise_xor(np.asarray(left, np.uint64), np.asarray(right, np.uint64))).astype(np.int64)
