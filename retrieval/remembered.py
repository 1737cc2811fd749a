"""Pair scores and questions' vectors that are remembered: who asks the same again waits for no second forward pass."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np

from ranking.fallback import FallbackScorer
from ranking.pair_scorer import PairScores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ranking.pair_scorer import Pair, PairScorer
    from retrieval.embedders import Embedder, Vectors

MOST_PAIRS = 5_000
MOST_QUESTIONS = 500


class RememberingScorer:
    """A neural scorer that reads each of the last 5 000 pairs once; a pair that failed is read anew."""

    def __init__(self, scorer: PairScorer) -> None:
        self.scorer = scorer
        self.neural = scorer.neural
        self._lock = threading.Lock()
        self._known: OrderedDict[Pair, float] = OrderedDict()

    def score(self, pairs: Sequence[Pair]) -> PairScores:
        """The scores known, and for the others the scorer's own, asked for in one call."""
        with self._lock:
            known = [self._known.get(pair) for pair in pairs]
        missing = [row for row, score in enumerate(known) if score is None]
        found = self.scorer.score([pairs[row] for row in missing])
        scores = np.array([np.nan if score is None else score for score in known], dtype=np.float64)
        scores[missing] = found.scores
        fell_back = np.zeros(len(pairs), dtype=np.bool_)
        fell_back[missing] = found.fell_back
        with self._lock:
            for row in missing:
                if np.isfinite(scores[row]) and not fell_back[row]:
                    self._known[pairs[row]] = float(scores[row])
            while len(self._known) > MOST_PAIRS:
                self._known.popitem(last=False)
        return PairScores(scores, fell_back, found.scorer)


def remembering(scorer: PairScorer) -> PairScorer:
    """The scorer with its model's scores remembered; words are scored faster than they are looked up."""
    if isinstance(scorer, FallbackScorer) and scorer.primary is not None:
        return FallbackScorer(RememberingScorer(scorer.primary), scorer.lexical)
    return scorer


class RememberingEmbedder:
    """An embedder that reads each of the last 500 questions once; one that failed is read anew."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.name = embedder.name
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Vectors] = OrderedDict()

    @property
    def dimensions(self) -> int | None:
        """The length of its vectors, which an endpoint tells only with an answer."""
        return self.embedder.dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The embedder's own: what is stored is embedded once anyway."""
        return self.embedder.embed(texts)

    def embed_query(self, text: str) -> Vectors:
        """The vector known, or the embedder's own."""
        with self._lock:
            known = self._known.get(text)
        if known is not None:
            return known.copy()
        found = self.embedder.embed_query(text)
        with self._lock:
            if np.isfinite(found).all():
                self._known[text] = found.copy()
            while len(self._known) > MOST_QUESTIONS:
                self._known.popitem(last=False)
        return found
