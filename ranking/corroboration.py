from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ranking.candidates import Candidates, Scores
from ranking.clusters import Clusters
from ranking.limits import within
from ranking.ranking import Ranking, rank
from ranking.relevance import Relevance

SCALE = 0.1


def corroboration_boost(corroborating: npt.ArrayLike, scale: float = SCALE) -> Scores:
    """``scale · log2(1 + corroborating)``: settles near-ties, never lifts the irrelevant.

    0.1 is Rensei's factor (000): one more voice is worth 0.1 of cosine, and each doubling adds 0.1 again.
    """
    within("scale", scale, 0)
    counts = np.asarray(corroborating, dtype=np.float64)
    bad = counts[~((counts >= 0) & (counts < np.inf))]
    if bad.size:
        raise ValueError(f"corroborating: expected counts of 0 or more, found {bad[0]:g}")
    return scale * np.log2(1.0 + counts)


@dataclass(frozen=True)
class Corroboration:
    """Add the boost of the observations that say the same, before feedback weighting (000)."""

    scale: float = SCALE
    words: ClassVar[str] = "corroborated by {corroborating:g}: {scale:g}·log2(1 + {corroborating:g}) = {delta:+.4f}"

    def __post_init__(self) -> None:
        within("scale", self.scale, 0)

    def __call__(self, ranking: Ranking) -> Ranking:
        boost = corroboration_boost(ranking.column("corroborating"), self.scale)
        return ranking.scored(self, ranking.scores + boost)


def with_corroboration(candidates: Candidates, clusters: Clusters) -> Candidates:
    """The candidates with what a pass found about them as columns; an observation it did not see has no voices."""
    rows = clusters.rows_of(candidates)
    seen = rows >= 0
    return candidates.with_columns(
        corroborating=np.where(seen, clusters.corroborating[rows], 0),
        cluster=np.where(seen, clusters.cluster[rows], -1),
    )


def rank_with_corroboration(candidates: Candidates, clusters: Clusters, scale: float = SCALE) -> Ranking:
    """Rank by ``relevance + scale · log2(1 + corroborating)``; neither candidates nor clusters change (000)."""
    return rank(with_corroboration(candidates, clusters), (Relevance(), Corroboration(scale)))
