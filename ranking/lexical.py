import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from ranking.pair_scorer import Pair, PairScores, ScorerUsed
from ranking.words import tokenize

TERM_SHARE, RARITY_SHARE, PHRASE_SHARE, TITLE_SHARE = 0.30, 0.30, 0.20, 0.20


def lexical_score(query: str, title: str, content: str, *, case_sensitive: bool = False) -> float:
    """How well a text answers a query by its words alone, 0–1 (004).

    ``0.30·Jaccard + 0.30·tf-idf-like + 0.20·query bigrams found + 0.20·title coverage``. Case is folded, because a
    title in title case should match; ``case_sensitive=True`` is the document's own system.
    """
    return _score(_Query.of(query, case_sensitive=case_sensitive), title, content)


@dataclass(frozen=True)
class _Query:
    """A query read once for all its pairs."""

    words: list[str]
    distinct: frozenset[str]
    bigrams: list[tuple[str, str]]
    lowered: Counter[str]
    case_sensitive: bool

    @classmethod
    def of(cls, query: str, *, case_sensitive: bool) -> "_Query":
        words = _words(query, case_sensitive=case_sensitive)
        return cls(
            words, frozenset(words), list(pairwise(words)), Counter(word.lower() for word in words), case_sensitive
        )


def _words(text: str, *, case_sensitive: bool) -> list[str]:
    words = tokenize(text)
    return words if case_sensitive else [word.lower() for word in words]


def _score(query: _Query, title: str, content: str) -> float:
    if not query.words:
        return 0.0
    title_words = _words(title, case_sensitive=query.case_sensitive)
    words = title_words + _words(content, case_sensitive=query.case_sensitive)
    distinct = set(words)
    jaccard = len(query.distinct & distinct) / len(query.distinct | distinct)
    found = set(pairwise(words)) if query.bigrams else set()
    phrases = sum(bigram in found for bigram in query.bigrams) / max(len(query.bigrams), 1)
    coverage = len(query.distinct.intersection(title_words)) / len(query.distinct)
    rarity = _rarity(query, words, len(distinct))
    return min(1.0, TERM_SHARE * jaccard + RARITY_SHARE * rarity + PHRASE_SHARE * phrases + TITLE_SHARE * coverage)


def _rarity(query: _Query, words: list[str], unique: int) -> float:
    """``Σ_q (tf/total)·(ln(unique/(1+df)) + 1) / |query|``, 0–1; df counts the spellings of q, for want of a corpus."""
    tf: Counter[str] = Counter()
    spellings: Counter[str] = Counter()
    for word, count in Counter(words).items():
        lowered = word.lower()
        if lowered in query.lowered:
            tf[lowered] += count
            spellings[lowered] += 1
    total = sum(
        asked * (tf[word] / len(words)) * (math.log(unique / (1 + spellings[word])) + 1)
        for word, asked in query.lowered.items()
        if word in tf
    )
    return min(1.0, max(0.0, total / len(query.words)))


@dataclass(frozen=True)
class LexicalScorer:
    """The scorer that needs no model: words, rarity, phrases and title."""

    case_sensitive: bool = False
    neural: bool = field(default=False, init=False)

    def score(self, pairs: Sequence[Pair]) -> PairScores:
        """Score every pair; a query that comes with many texts is read once."""
        queries: dict[str, _Query] = {}
        scores = np.zeros(len(pairs))
        for row, pair in enumerate(pairs):
            query = queries.get(pair.query)
            if query is None:
                query = queries[pair.query] = _Query.of(pair.query, case_sensitive=self.case_sensitive)
            scores[row] = _score(query, pair.title, pair.content)
        return PairScores(scores, np.full(len(pairs), fill_value=False), ScorerUsed.LEXICAL)
