"""Clustering near-duplicate texts of 25 words: against the documents' way and two packages, and as the corpus grows."""

import resource
import unicodedata
from collections.abc import Mapping, Sequence
from functools import partial

from datasketch import MinHash, MinHashLSH
from simhash import Simhash, SimhashIndex

from benchmarks._bars import held, over, under
from benchmarks._corpus import plain_corpus, skewed_corpus
from benchmarks._timing import best_of
from ranking.near_duplicates import cluster_near_duplicates
from ranking.simhash import simhash64

THRESHOLD = 3
SIZE, MILLION, SAMPLE = 10_000, 1_000_000, 1_000
LEAST = {"documents / ours": 100.0}
LIMITS = {"skewed / plain": 3.0, "million / ten thousand": 120.0, "million skewed / plain": 3.0, "peak GiB": 4.0}
_MASK = 0xFFFFFFFFFFFFFFFF


def plain_simhash(text: str) -> int:
    """The documents' fingerprint of one text: a character, a token, a bit at a time."""
    spaced = "".join(" " if unicodedata.category(c)[0] in "ZP" or c in "\t\n\v\f\r" else c for c in text.lower())
    votes = [0] * 64
    for token in spaced.split(" "):
        if len(token) > 1:
            value = 0xCBF29CE484222325
            for character in token:
                value = ((value ^ ord(character)) * 0x100000001B3) & _MASK
            for bit in range(64):
                votes[bit] += 1 if value >> bit & 1 else -1
    return sum(1 << bit for bit, vote in enumerate(votes) if vote > 0)


def all_pairs(hashes: Sequence[int]) -> list[tuple[int, int]]:
    """The documents' grouping: each fingerprint against every later one."""
    return [
        (left, right)
        for left, one in enumerate(hashes)
        for right in range(left + 1, len(hashes))
        if (one ^ hashes[right]).bit_count() <= THRESHOLD
    ]


def documents_way(texts: Sequence[str], sample: int) -> float:
    """Seconds for all texts, from a sample of them: fingerprints grow with their number, pairs with its square."""
    hashes: list[int] = []
    hashing = best_of(1, lambda: hashes.extend(map(plain_simhash, texts[:sample])))
    pairing = best_of(1, lambda: all_pairs(hashes))
    if hashes != simhash64(texts[:sample]).tolist():
        raise ValueError("expected the same fingerprints both ways, found others")
    return hashing * len(texts) / sample + pairing * (len(texts) / sample) ** 2


def simhash_package(texts: Sequence[str]) -> None:
    """`simhash`: one object per text, an index by bands, one question per text."""
    marked = [(str(row), Simhash(tokenize_plain(text))) for row, text in enumerate(texts)]
    index = SimhashIndex(marked, k=THRESHOLD)
    for _, mark in marked:
        index.get_near_dups(mark)


def datasketch_package(texts: Sequence[str]) -> None:
    """`datasketch`: MinHash of 128 permutations, an index at Jaccard 0.9: the nearest it has to the same question."""
    index = MinHashLSH(threshold=0.9, num_perm=128)
    marked = MinHash.bulk([[token.encode() for token in tokenize_plain(text)] for text in texts], num_perm=128)
    for row, mark in enumerate(marked):
        index.insert(row, mark)
    for mark in marked:
        index.query(mark)


def tokenize_plain(text: str) -> list[str]:
    """Tokens of a generated text, which has no punctuation: the packages are not charged for finding them."""
    return text.split(" ")


def row(way: str, texts: int, taken: float, against: float, note: str = "") -> dict[str, object]:
    """One line of the table; ``against`` are the seconds of the library for 10 000 plain texts."""
    return {"way": way, "texts": texts, "seconds": taken, "of ours at 10 000": taken / against, "note": note}


def run(quick: bool) -> Mapping[str, object]:  # noqa: FBT001 - the contract of python -m benchmarks
    """Seconds of every way, and whether they are within the limits."""
    cluster = partial(cluster_near_duplicates, threshold=THRESHOLD, limit=None)
    texts = plain_corpus(SIZE)
    skewed = skewed_corpus(texts)
    cold = best_of(1, partial(cluster, texts))
    ours, ours_skewed = best_of(9, partial(cluster, texts)), best_of(9, partial(cluster, skewed))
    sample = SAMPLE if quick else SIZE
    documents = documents_way(texts, sample)
    rows = [
        row("ours", SIZE, ours, ours, f"first call {cold:.3f} s"),
        row("ours, skewed", SIZE, ours_skewed, ours),
        row("documents' way", SIZE, documents, ours, f"extrapolated from {sample:,}" if quick else "measured in full"),
        row("simhash package", sample, best_of(1, partial(simhash_package, texts[:sample])), ours),
        row("datasketch package", sample, best_of(1, partial(datasketch_package, texts[:sample])), ours),
    ]
    figures: dict[str, float] = {"documents / ours": documents / ours, "skewed / plain": ours_skewed / ours}
    if not quick:
        texts = plain_corpus(MILLION)
        skewed = skewed_corpus(texts)
        million, million_skewed = best_of(2, partial(cluster, texts)), best_of(2, partial(cluster, skewed))
        rows.append(row("ours", MILLION, million, ours))
        rows.append(row("ours, skewed", MILLION, million_skewed, ours))
        figures["million / ten thousand"] = million / ours
        figures["million skewed / plain"] = million_skewed / million
        # kilobytes on Linux; the corpora themselves and the packages are in it
        figures["peak GiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    bars = held([*under(figures, LEAST), *over(figures, LIMITS)])
    return {"rows": rows, **figures, **bars}
