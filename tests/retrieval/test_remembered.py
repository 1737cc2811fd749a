from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ranking import LexicalScorer, ScorerUsed
from ranking.fallback import FallbackScorer
from ranking.pair_scorer import Pair, PairScores
from retrieval.embedders import EmbedderError
from retrieval.remembered import MOST_QUESTIONS, RememberingEmbedder, RememberingScorer, remembering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval.embedders import Vectors

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


class Embedding:
    """An embedder that counts the questions it reads: a vector holds a text's length, a bad one fails."""

    name, dimensions = "counting", 1

    def __init__(self) -> None:
        self.read: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.array([[len(text)] for text in texts], np.float32)

    def embed_query(self, text: str) -> Vectors:
        self.read.append(text)
        if text == "bad":
            raise EmbedderError("away")
        return np.array([np.nan if text == "odd" else len(text)], np.float32)


def test_a_question_is_read_once_whatever_is_done_to_its_vector() -> None:
    counting = Embedding()
    embedder = RememberingEmbedder(counting)
    embedder.embed_query("one")[:] = 7
    embedder.embed_query("one")[:] = 8
    assert embedder.embed_query("one").tolist() == [3.0]
    assert counting.read == ["one"]
    assert (embedder.name, embedder.dimensions, embedder.embed(["xx"]).tolist()) == ("counting", 1, [[2.0]])


def test_a_question_that_failed_is_read_again() -> None:
    counting = Embedding()
    embedder = RememberingEmbedder(counting)
    for _ in range(2):
        with pytest.raises(EmbedderError):
            embedder.embed_query("bad")
        assert np.isnan(embedder.embed_query("odd")).all()
    assert counting.read == ["bad", "odd"] * 2


def test_the_oldest_questions_are_forgotten() -> None:
    counting = Embedding()
    embedder = RememberingEmbedder(counting)
    for number in range(MOST_QUESTIONS + 1):
        embedder.embed_query(str(number))
    embedder.embed_query("1")
    embedder.embed_query("0")
    assert counting.read[-2:] == [str(MOST_QUESTIONS), "0"]
