"""What makes the members of one cluster near: the bits they share, how far apart any two are, the words that differ."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from analysis.corroboration.agreement import Agreement

    Hashes = npt.NDArray[np.uint64]

BITS = 64
AROUND = 4  # words kept on either side of a difference
SAME = "the same words"


def bits_of(hashes: Hashes) -> list[list[int]]:
    """The 64 bits of every fingerprint, the highest first."""
    places = np.arange(BITS - 1, -1, -1, dtype=np.uint64)
    bits: list[list[int]] = ((hashes[:, None] >> places) & np.uint64(1)).astype(int).tolist()
    return bits


def hamming(hashes: Hashes) -> list[list[int]]:
    """In how many bits any two fingerprints differ."""
    apart: list[list[int]] = np.bitwise_count(hashes[:, None] ^ hashes[None]).astype(int).tolist()
    return apart


def nearest(agreement: Agreement, rows: Sequence[int], among: Sequence[int]) -> list[int]:
    """In how many bits each row differs from the nearest of some others."""
    there = agreement.hashes[list(among)]
    return [int(np.bitwise_count(agreement.hashes[row] ^ there).min()) for row in rows]


def word_diff(canonical: str, other: str) -> str:
    """What another text says differently, word by word: ``[−gone−]``, ``[+new+]``, unchanged stretches cut short."""
    old, new = canonical.split(), other.split()
    if old == new:
        return SAME
    told: list[str] = []
    for kind, i0, i1, j0, j1 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            told += _cut(old[i0:i1], first=not i0, last=i1 == len(old))
        else:
            told += [f"[−{' '.join(old[i0:i1])}−]"] * (i1 > i0) + [f"[+{' '.join(new[j0:j1])}+]"] * (j1 > j0)
    return " ".join(told)


def _cut(words: list[str], *, first: bool, last: bool) -> list[str]:
    """A stretch that both texts share; only the words beside a difference where it is long."""
    head, tail = 0 if first else AROUND, 0 if last else AROUND
    if len(words) <= head + tail + 1:
        return words
    return [*words[:head], "…", *words[len(words) - tail :]]
