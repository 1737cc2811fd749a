from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ranking import LexicalScorer, ScorerUsed
from ranking.fallback import FallbackScorer
from ranking.pair_scorer import Pair, PairScores
from retrieval.remembered import RememberingScorer, remembering

if TYPE_CHECKING:
    from collections.abc import Sequence

ONE, TWO, BAD = (Pair("q", "", text) for text in ("one", "three", "bad"))


class Counting:
    """A scorer that counts what it reads: a pair scores its length in hundredths, a bad one fails."""

    neural = True

    def __init__(self) -> None:
        self.read: list[str] = []

    def score(self, pairs: Sequence[Pair]) -> PairScores:
        self.read += [pair.content for pair in pairs]
        scores = [np.nan if pair.content == "bad" else len(pair.content) / 100 for pair in pairs]
        return PairScores(np.array(scores), np.zeros(len(pairs), dtype=np.bool_), ScorerUsed.NEURAL)


def test_a_pair_is_read_once_and_scores_the_same() -> None:
    counting = Counting()
    scorer = RememberingScorer(counting)
    assert scorer.score([ONE, TWO]).scores.tolist() == [0.03, 0.05]
    assert scorer.score([TWO, ONE]).scores.tolist() == [0.05, 0.03]
    assert scorer.score([TWO, ONE]).scorer_used is ScorerUsed.NEURAL
    assert counting.read == ["one", "three"]


def test_a_pair_that_failed_is_read_again_and_stands_degraded_meanwhile() -> None:
    counting = Counting()
    scorer = remembering(FallbackScorer(counting))
    first = scorer.score([ONE, BAD])
    assert first.fell_back.tolist() == [False, True]
    assert scorer.score([ONE, BAD]).scorer_used is ScorerUsed.DEGRADED_LEXICAL
    assert counting.read == ["one", "bad", "bad"]


def test_words_are_scored_anew() -> None:
    own = LexicalScorer()
    assert remembering(own) is own
    missing = FallbackScorer(None)
    assert remembering(missing) is missing
