from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ranking.candidates import Flags, MissingEvidence, Positions, Scores
from ranking.limits import whole, within
from ranking.ranking import Ranking
from ranking.redundancy import RedundancyOf, redundancy_with

DEFAULT_LAMBDA = 0.78
DUPLICATE_THRESHOLD = 0.94
DEFAULT_K = 4


@dataclass(frozen=True, eq=False)
class Selection:
    """The rows chosen, in order, and which of them the MMR rule chose rather than first place or the fallback."""

    rows: Positions
    by_rule: Flags


def mmr(
    scores: Scores,
    redundancy: RedundancyOf,
    k: int = DEFAULT_K,
    lam: float = DEFAULT_LAMBDA,
    duplicate_threshold: float = DUPLICATE_THRESHOLD,
) -> Selection:
    """Of rows in rank order: the best, then the largest ``λ·score - (1-λ)·max redundancy`` with those chosen (002).

    Rows at or above the duplicate threshold wait until only such rows remain; then the best ranked of them is taken.
    """
    within("lambda", lam, 0, 1)
    chosen: list[int] = []
    by_rule: list[bool] = []
    nearest = np.zeros(scores.size)
    free = np.ones(scores.size, dtype=np.bool_)
    relevance = lam * scores
    for _ in range(min(max(k, 0), scores.size)):
        row, ruled = 0, False
        if chosen:
            np.maximum(nearest, redundancy(chosen[-1]), out=nearest)
            gain = np.where(free & (nearest < duplicate_threshold), relevance - (1 - lam) * nearest, -np.inf)
            row = int(gain.argmax())  # the first of equals: ties keep rank order
            ruled = bool(gain[row] > -np.inf)
            row = row if ruled else int(free.argmax())
        free[row] = False
        chosen.append(row)
        by_rule.append(ruled)
    return Selection(np.array(chosen, dtype=np.intp), np.array(by_rule, dtype=np.bool_))


def candidate_pool(k: int) -> int:
    """``max(4k, 32)`` rows go into the selection: diversity needs something to choose from (002)."""
    return max(4 * k, 32)


def route_pool(k: int) -> int:
    """``max(2·max(4k, 32), 40)`` rows are recalled per route (002)."""
    return max(2 * candidate_pool(k), 40)


@dataclass(frozen=True)
class Mmr:
    """Keep ``k`` rows that are good and unlike each other; the order of choice stands (002)."""

    k: int = DEFAULT_K
    lam: float = DEFAULT_LAMBDA
    duplicate_threshold: float = DUPLICATE_THRESHOLD
    words: ClassVar[str] = "chosen at place {place} for score and difference, λ {lam:g}"
    dropped: ClassVar[str] = "{k} rows that score higher or differ more were chosen, λ {lam:g}"

    def __post_init__(self) -> None:
        whole("k", self.k, 0)
        within("lam", self.lam, 0, 1)
        within("duplicate_threshold", self.duplicate_threshold, 0)

    def __call__(self, ranking: Ranking) -> Ranking:
        return self.chosen(ranking, self.likeness(ranking))

    def chosen(self, ranking: Ranking, redundancy: RedundancyOf) -> Ranking:
        """The ranking after the choice, ``redundancy`` being what ``likeness`` gave for rows in the same order."""
        rows = competing(ranking)
        chosen = mmr(ranking.scores[rows], redundancy, self.k, self.lam, self.duplicate_threshold).rows
        rest = ranking.last.order()[rows.size :][: max(self.k - chosen.size, 0)]
        return ranking.selected(self, np.concatenate([rows[chosen], rest]))

    @staticmethod
    def likeness(ranking: Ranking) -> RedundancyOf:
        """How alike the rows are that compete with each other, by embeddings and tags; no knob changes it."""
        found, rows = ranking.candidates, competing(ranking)
        if "embeddings" not in found and "tags" not in found:
            raise MissingEvidence(f"no column 'embeddings' or 'tags'; candidates carry {found.carried}")
        return redundancy_with(
            ranking.column("embeddings")[rows] if "embeddings" in found else None,
            ranking.texts("tags", rows) if "tags" in found else None,
        )


def competing(ranking: Ranking) -> Positions:
    """The rows of the first tier, best first: those an earlier stage put below stay below, however much they differ."""
    order, tiers = ranking.last.order(), ranking.last.tiers
    return order if tiers is None else order[tiers[order] == tiers[order[:1]]]
