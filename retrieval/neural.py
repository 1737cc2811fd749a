"""The neural scorer: a cross-encoder in a folder, as the pair scorer that ``ranking`` asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ranking.fallback import FallbackScorer
from ranking.lexical import LexicalScorer
from ranking.pair_scorer import PairScores, ScorerUsed, max_sequence
from retrieval.onnx_models import MINILM, ModelError, OnnxModel, packaged

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

    from ranking.candidates import Scores
    from ranking.pair_scorer import Pair, PairScorer

TOKENS = 192  # 128 to 192 pay on a processor; what comes later in a text seldom decides
BATCH = 32


class NeuralScorer:
    """A cross-encoder that reads question and text together; its logit through a sigmoid is the score of 0–1."""

    neural = True

    def __init__(self, folder: Path, tokens: int = TOKENS) -> None:
        # the cap of the process holds here too
        self._network = OnnxModel(folder, min(tokens, max_sequence()))

    def score(self, pairs: Sequence[Pair]) -> PairScores:
        """One forward pass per 32 pairs, shortest first, so that short pairs are not padded to the longest of all."""
        scores = np.full(len(pairs), np.nan)
        by_length = sorted(range(len(pairs)), key=lambda row: len(pairs[row].title) + len(pairs[row].content))
        for start in range(0, len(pairs), BATCH):
            rows = by_length[start : start + BATCH]
            logits, _ = self._network.run([_texts(pairs[row]) for row in rows])
            if logits.shape not in ((len(rows), 1), (len(rows),)):
                raise ModelError(f"expected one score per pair from the cross-encoder, found shape {logits.shape}")
            scores[rows] = _sigmoid(logits.reshape(-1))
        return PairScores(scores, np.full(len(pairs), fill_value=False), ScorerUsed.NEURAL)


def pair_scorer(folder: Path | None = None, *, lexical: bool = False) -> PairScorer:
    """The scorer of a process: neural with lexical standing in, or lexical alone where that was chosen."""
    if lexical:
        return LexicalScorer()
    found = folder or packaged(MINILM)
    return FallbackScorer(None if found is None else NeuralScorer(found))


def _texts(pair: Pair) -> tuple[str, str]:
    return pair.query, f"{pair.title}\n{pair.content}" if pair.title else pair.content


def _sigmoid(logits: npt.NDArray[np.floating]) -> Scores:
    # a logit of -800 would overflow on the way to 0
    scores: Scores = 1.0 / (1.0 + np.exp(-logits.astype(np.float64).clip(-700, 700)))
    return scores
