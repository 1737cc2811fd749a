from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ranking.limits import whole
from ranking.ranking import Ranking


@dataclass(frozen=True)
class Relevance:
    """Start from what recall found: the store's own score, cosine or keyword (001)."""

    words: ClassVar[str] = "recalled with relevance {score:.4f}"

    def __call__(self, ranking: Ranking) -> Ranking:
        return ranking.scored(self, ranking.column("relevance"))


@dataclass(frozen=True)
class Head:
    """Keep the best ``k`` rows; 20 because 001 recalls "up to 20 raw observation candidates"."""

    k: int = 20
    words: ClassVar[str] = "among the best {k}"
    dropped: ClassVar[str] = "not among the best {k}"

    def __post_init__(self) -> None:
        whole("k", self.k, 0)

    def __call__(self, ranking: Ranking) -> Ranking:
        keep = np.zeros(ranking.scores.size, dtype=np.bool_)
        keep[ranking.last.head(self.k)] = True
        return ranking.kept(self, keep)
