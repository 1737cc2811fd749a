from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ranking.candidates import Flags
from ranking.limits import whole
from ranking.ranking import Ranking
from ranking.sentences import RowChange
from ranking.tokens import refuse_lone_text

# Go's unicode.IsSpace; Python's split() would also cut at U+001C to U+001F, which Go keeps
_BUT_SPACE = r"\t-\r\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_SPACES = rf"[ {_BUT_SPACE}]+"
_UNEVEN = rf"[{_BUT_SPACE}]|  |^ | $"


def lower_runes(text: str) -> str:
    """Lower-case rune by rune as Go does: no final sigma, and İ is a plain i."""
    return text.lower() if text.isascii() else "".join("i" if rune == "İ" else rune.lower() for rune in text)


def normalized(contents: Any) -> Any:  # noqa: ANN401 - texts in, an Arrow array of large strings out
    """Texts lower-cased with every run of whitespace as one space and none at the ends (003)."""
    refuse_lone_text("contents", contents)
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

    def __post_init__(self) -> None:
        whole("limit", self.limit)

    def __call__(self, ranking: Ranking) -> Ranking:
        order = ranking.last.order()
        keep = np.empty(order.size, dtype=np.bool_)
        keep[order] = dedup(ranking.texts("content", order), self.limit)
        return ranking.kept(self, keep)

    def wording(self, row: RowChange) -> str:
        """What it says of a row: a copy, or one too many."""
        if row.held:
            return "the first with this content"
        # up to the limit nothing but a copy is dropped
        if 0 < self.limit <= row.step.positions.size and not _holds(row.held_texts("content"), row.text("content")):
            return "the limit of {limit} is reached above it"
        return "the same content stands above it"


def _holds(contents: Any, text: str) -> bool:  # noqa: ANN401 - an Arrow array of large strings
    return bool(pc.any(pc.equal(normalized(contents), pa.scalar(normalize_content(text), pa.large_string()))).as_py())
