from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ranking.candidates import Flags
from ranking.ranking import Ranking

# Go's unicode.IsSpace; Python's split() would also cut at U+001C to U+001F, which Go keeps
_BUT_SPACE = r"\t-\r\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_SPACES = rf"[ {_BUT_SPACE}]+"
_UNEVEN = rf"[{_BUT_SPACE}]|  |^ | $"


def lower_runes(text: str) -> str:
    """Lower-case rune by rune as Go does: no final sigma, and İ is a plain i."""
    return text.lower() if text.isascii() else "".join("i" if rune == "İ" else rune.lower() for rune in text)


def normalized(contents: Any) -> Any:  # noqa: ANN401 - texts in, an Arrow array of large strings out
    """Texts lower-cased with every run of whitespace as one space and none at the ends (003)."""
    texts = contents if isinstance(contents, pa.Array) else pa.array(contents, pa.large_string())
    lowered = pc.utf8_lower(texts)  # Arrow lower-cases rune by rune, as Go does
    # replacing costs eight times as much as looking, and most texts are even
    uneven = pc.match_substring_regex(lowered, _UNEVEN)
    even = pc.utf8_trim(pc.replace_substring_regex(lowered.filter(uneven), _SPACES, " "), " ")
    return pc.replace_with_mask(lowered, uneven, even)


def normalize_content(text: str) -> str:
    """One text as ``dedup`` compares it."""
    only: str = normalized([text])[0].as_py()
    return only


def dedup(contents: Any, limit: int = 0) -> Flags:  # noqa: ANN401 - texts, a sequence or an Arrow array
    """Which texts, best first, are the first of their normalised kind, at most ``limit`` of them; 0 or less is all."""
    codes = np.asarray(normalized(contents).dictionary_encode().indices)
    # codes are numbered as first seen, so a new one is above all before it
    keep: Flags = codes > np.concatenate([[-1], np.maximum.accumulate(codes)[:-1]])[: codes.size]
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
        keep[order] = dedup(ranking.texts("content", order), self.limit)
        return ranking.kept(self, keep)
