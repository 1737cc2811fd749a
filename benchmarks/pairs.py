"""Finding near fingerprints at every threshold of the slider, on plain and on skewed text."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from benchmarks._corpus import plain_corpus, skewed_corpus
from benchmarks._timing import best_of
from ranking.near_pairs import near_components
from ranking.simhash import Hashes, simhash64

THRESHOLDS = (0, 1, 2, 3, 4, 6, 8, 10, 12, 16)
SIZE, LARGE, MILLION = 10_000, 100_000, 1_000_000
# beyond, all are compared with all, which at this size takes many seconds
WIDEST_LARGE = 4
_ROWS = 64


def brute_force(hashes: Hashes, threshold: int) -> int:
    """How many pairs are near, every fingerprint against all: what numpy can do without a thought."""
    return sum(
        int(np.count_nonzero(np.bitwise_count(hashes[start : start + _ROWS, None] ^ hashes[None, :]) <= threshold))
        for start in range(0, len(hashes), _ROWS)
    )


def run(quick: bool) -> Mapping[str, object]:  # noqa: FBT001 - the contract of python -m benchmarks
    """Milliseconds to the components of 10 000 and more fingerprints of 25-word texts."""
    sizes = (SIZE,) if quick else (SIZE, LARGE, MILLION)
    texts = plain_corpus(sizes[-1])
    rows: list[dict[str, object]] = []
    for size in sizes:
        corpora = {"plain": simhash64(texts[:size]), "skewed": simhash64(skewed_corpus(texts[:size]))}
        for threshold in (bits for bits in THRESHOLDS if size == SIZE or bits <= WIDEST_LARGE):
            if size == MILLION and threshold > 3:  # noqa: PLR2004 - the default
                continue
            timed = {
                f"{name} ms": best_of(3 if size == SIZE else 1, partial(near_components, hashes, threshold)) * 1e3
                for name, hashes in corpora.items()
            }
            rows.append({"fingerprints": size, "threshold": threshold, **timed})
        if size == SIZE:
            every_pair = best_of(2, partial(brute_force, corpora["plain"], 3)) * 1e3
    slowest = max(
        float(str(row[name])) for row in rows if row["fingerprints"] == SIZE for name in ("plain ms", "skewed ms")
    )
    return {"rows": rows, "numpy brute force of 10 000 ms": every_pair, "slowest of 10 000 ms": slowest}
