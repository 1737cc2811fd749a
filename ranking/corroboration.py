from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ranking.candidates import Scores
from ranking.limits import within
from ranking.ranking import Ranking

SCALE = 0.1


def corroboration_boost(corroborating: Scores, scale: float = SCALE) -> Scores:
    """``scale · log2(1 + corroborating)``: settles near-ties, never lifts the irrelevant.

    0.1 is Rensei's factor (000): one more voice is worth 0.1 of cosine, and each doubling adds 0.1 again.
    """
    within("scale", scale, 0)
    counts = np.asarray(corroborating, dtype=np.float64)
    if not (counts >= 0).all() or np.isinf(counts).any():
        raise ValueError(f"corroborating: expected counts of 0 or more, found {counts[~(counts >= 0)][:1]}")
    return scale * np.log2(1.0 + counts)


@dataclass(frozen=True)
class Corroboration:
    """Add the boost of the observations that say the same, before feedback weighting (000)."""

    scale: float = SCALE
    words: ClassVar[str] = "corroborated by {corroborating:g}: {delta:+.4f}"

    def __post_init__(self) -> None:
        within("scale", self.scale, 0)

    def __call__(self, ranking: Ranking) -> Ranking:
        boost = corroboration_boost(ranking.column("corroborating"), self.scale)
        return ranking.scored(self, ranking.scores + boost)
