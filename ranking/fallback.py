import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ranking.lexical import LexicalScorer
from ranking.pair_scorer import Pair, PairScorer, PairScores, ScorerUsed, unscored

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class FallbackScorer:
    """A neural scorer, or None where its weights are missing, with the lexical one standing in pair by pair.

    The result says for which pairs (``fell_back``), so that a page can name it: never silently (004).
    """

    primary: PairScorer | None
    lexical: LexicalScorer = field(default_factory=LexicalScorer)

    @property
    def neural(self) -> bool:
        """Whether there is a neural scorer at all."""
        return self.primary is not None and self.primary.neural

    def score(self, pairs: Sequence[Pair]) -> PairScores:
        """The primary's scores, the lexical scorer's where those are missing."""
        first = self._primary_scores(pairs)
        failed = ~np.isfinite(first.scores)
        if not failed.any():
            return first
        scores = first.scores.copy()
        scores[failed] = self.lexical.score([pairs[row] for row in np.flatnonzero(failed).tolist()]).scores
        used = ScorerUsed.DEGRADED_LEXICAL if failed.all() else first.scorer
        return PairScores(scores, failed | first.fell_back, used)

    def _primary_scores(self, pairs: Sequence[Pair]) -> PairScores:
        if self.primary is None or not pairs:
            return unscored(len(pairs))
        try:
            return self.primary.score(pairs)
        except Exception:
            # whatever a model runtime throws, the caller still gets scores, marked as not the model's
            logger.exception("neural scorer failed on %d pairs; the lexical scorer stands in", len(pairs))
            return unscored(len(pairs))
