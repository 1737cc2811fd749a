"""How well a text answers a query, without a model: the cosine of their tf-idf vectors."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a after all an and another any are as at be because before by can do each every for from has have how if in
        into is it its no nor not of on once one only or other otherwise our out so than that the their then there they
        this to under was were when where which while who whose with without""",
    )
)


def relevances(query: str, texts: Sequence[str]) -> list[float]:
    """One cosine per text, 0 to 1, with idf = ln((1 + n) / (1 + df)) + 1; words that no text has do not count."""
    counted = [Counter(_words(text)) for text in texts]
    seen = Counter(word for words in counted for word in words)
    idf = {word: math.log((1 + len(texts)) / (1 + df)) + 1 for word, df in seen.items()}
    wanted = _unit(Counter(word for word in _words(query) if word in idf), idf)
    return [math.fsum(wanted.get(word, 0.0) * value for word, value in _unit(words, idf).items()) for words in counted]


def _words(text: str) -> list[str]:
    found = (_stem(word) for word in re.findall(r"\w{2,}", text.lower()))
    return [word for word in found if word not in STOP_WORDS]


def _stem(word: str) -> str:
    """Fold the plural, so that "retries" and "retry", "rates" and "rate" meet."""
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word.removesuffix("s") if not word.endswith("ss") else word


def _unit(words: Counter[str], idf: dict[str, float]) -> dict[str, float]:
    vector = {word: n * idf[word] for word, n in words.items()}
    norm = math.sqrt(math.fsum(value * value for value in vector.values()))
    return {word: value / norm for word, value in vector.items()} if norm else {}
