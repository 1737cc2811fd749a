from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from ranking.candidates import Flags
from ranking.ranking import Ranking

# Go's unicode.IsSpace; Python's split() would also cut at U+001C to U+001F, which Go keeps
_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_TO_SPACE = str.maketrans(dict.fromkeys(_SPACES, " "))


def lower_runes(text: str) -> str:
    """Lower-case rune by rune as Go does: no final sigma, and İ is a plain i."""
    return text.lower() if text.isascii() else "".join("i" if rune == "İ" else rune.lower() for rune in text)


def normalize_content(text: str) -> str:
    """The text lower-cased with every run of whitespace as one space and none at the ends (003)."""
    return " ".join(filter(None, lower_runes(text).translate(_TO_SPACE).split(" ")))


def dedup(contents: Sequence[str], limit: int = 0) -> Flags:
    """Which texts, best first, are the first of their normalised kind, at most ``limit`` of them; 0 or less is all."""
    keep = np.zeros(len(contents), dtype=np.bool_)
    if not len(contents):
        return keep
    codes = np.asarray(pa.array(map(normalize_content, contents), pa.large_string()).dictionary_encode().indices)
    # codes are numbered as first seen, so a new code is the running maximum plus one
    keep[np.unique(codes, return_index=True)[1]] = True
    if limit > 0:
        keep &= keep.cumsum() <= limit
    return keep


@dataclass(frozen=True)
class Dedup:
    """Drop rows whose content stands above them already; ``limit`` of 0 caps nothing (003)."""

    limit: int = 0
    words: ClassVar[str] = "the first with this content"
    dropped: ClassVar[str] = "the same content stands above it, or {limit} rows already do"

    def __call__(self, ranking: Ranking) -> Ranking:
        order = ranking.last.order()
        keep = np.empty(order.size, dtype=np.bool_)
        keep[order] = dedup(ranking.texts("content", order).to_pylist(), self.limit)
        return ranking.kept(self, keep)
