from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ranking.candidates import Candidates, Scores
from ranking.columns import numbered
from ranking.feedback import minmax
from ranking.limits import finite, whole, within
from ranking.order import top_k
from ranking.ranking import Ranking
from ranking.sentences import RowChange

# by first rank: the Go package counts from 0 and measured 5 (003), Memsense counts from 1 and uses 15 (002)
DEFAULT_K = {0: 5.0, 1: 15.0}
DEFAULT_ALPHA = 0.5
_NOBODY = -1

Fused = list[tuple[Any, float]]
ScoredLeg = Sequence[tuple[Any, float]]


def damping(k: float, first_rank: int) -> float:
    """The ``k`` of a fusion; 0 or less asks for the default of the system that counts from ``first_rank``."""
    whole("first_rank", first_rank)
    if first_rank not in DEFAULT_K:
        raise ValueError(f"first_rank: expected 0 or 1, found {first_rank}")
    chosen = DEFAULT_K[first_rank] if k <= 0 else k
    finite("k", chosen)
    return chosen


def reciprocal_rank_fusion(legs: Sequence[Sequence[Any]], k: float = 0.0, first_rank: int = 1, top: int = 0) -> Fused:
    """``Σ 1/(k + rank)`` over the legs, each a list of ids best first: only places count, never score scales."""
    shares = [1.0 / (damping(k, first_rank) + first_rank + np.arange(len(leg), dtype=np.float64)) for leg in legs]
    return _summed([list(leg) for leg in legs], shares, top)


def fuse_scores(legs: Sequence[ScoredLeg], weights: Sequence[float] | None = None, top: int = 0) -> Fused:
    """``Σ weight·minmax(score)`` over the legs: unlike ranks, a leg's standout keeps its distance; no weight is 1."""
    padded = [*(weights or ()), *[1.0] * len(legs)][: len(legs)]
    columns = [np.array([score for _, score in leg], dtype=np.float64) for leg in legs]
    if not all(np.isfinite(column).all() for column in (*columns, np.array(padded, dtype=np.float64))):
        raise ValueError("legs: expected finite scores and weights, found nan or infinity")
    shares = [weight * minmax(column) for weight, column in zip(padded, columns, strict=True)]
    return _summed([[label for label, _ in leg] for leg in legs], shares, top)


def two_leg_weights(alpha: float = DEFAULT_ALPHA) -> tuple[float, float]:
    """``(α, 1 - α)``: what the vector leg and the keyword leg weigh."""
    within("alpha", alpha, 0, 1)
    return alpha, 1 - alpha


def leg_pool(k: int) -> int:
    """``max(5k, 50)`` rows per leg in two-leg mode: a row deep in both legs must be seen to be fused (003)."""
    return max(5 * k, 50)


def _summed(legs: Sequence[list[Any]], shares: Sequence[Scores], top: int) -> Fused:
    labels = [label for leg in legs for label in leg]
    if not labels:
        return []
    # an id met twice adds twice; codes are numbered as first seen, so ties keep that order
    codes, distinct = numbered(labels)
    scores: Scores = np.bincount(codes, weights=np.concatenate(shares)).astype(np.float64, copy=False)
    best = top_k(scores, top if top > 0 else scores.size).tolist()
    return list(zip((distinct[row] for row in best), scores[best].tolist(), strict=True))


def candidates_from_legs(legs: Mapping[str, ScoredLeg], **facts: Any) -> Candidates:  # noqa: ANN401 - as Candidates
    """One row per id in the order first seen, with its place and score in every leg, ready for a fusion stage."""
    codes, distinct = numbered([label for leg in legs.values() for label, _ in leg])
    ranks = np.full((len(distinct), len(legs)), _NOBODY)
    scores = np.full(ranks.shape, np.nan)
    start = 0
    for column, (name, leg) in enumerate(legs.items()):
        rows = codes[start : start + len(leg)]
        if np.unique(rows).size != rows.size:
            raise ValueError(f"leg {name!r}: expected every id once, found one twice")
        ranks[rows, column] = np.arange(rows.size)
        scores[rows, column] = [score for _, score in leg]
        start += len(leg)
    return Candidates(distinct, legs=tuple(legs), leg_ranks=ranks, leg_scores=scores, **facts)


@dataclass(frozen=True)
class ReciprocalRankFusion:
    """Score rows by their places in the legs; 15 from 1 is Memsense (002), 5 from 0 the Go package (003)."""

    k: float = 15.0
    first_rank: int = 1

    def __post_init__(self) -> None:
        damping(self.k, self.first_rank)

    def __call__(self, ranking: Ranking) -> Ranking:
        places = ranking.column("leg_ranks")
        shares = np.where(places < 0, 0.0, 1.0 / (damping(self.k, self.first_rank) + self.first_rank + places.clip(0)))
        return ranking.scored(self, ranking.scores + shares.sum(axis=1))

    def wording(self, row: RowChange) -> str:
        """What it says of a row: one share for each leg that found it, and the sum."""
        k, places = damping(self.k, self.first_rank), row.ranking.candidates["leg_ranks"][row.position]
        shares = [f"1/({k:g} + {self.first_rank + place}) {name}" for name, place in _named(row, places) if place >= 0]
        return f"Σ 1/({k:g} + rank): {' + '.join(shares) or 'no leg found it'} = {{score:.4f}}"


@dataclass(frozen=True)
class ScoreFusion:
    """Score rows by their normalised scores: two legs weigh α and 1 - α, any other number of legs 1 each (003)."""

    alpha: float = DEFAULT_ALPHA

    def __post_init__(self) -> None:
        two_leg_weights(self.alpha)

    def __call__(self, ranking: Ranking) -> Ranking:
        total = ranking.scores.copy()
        for weight, leg in zip(self._weights(ranking), ranking.column("leg_scores").T, strict=True):
            seen = ~np.isnan(leg)
            total[seen] += weight * minmax(leg[seen])
        return ranking.scored(self, total)

    def wording(self, row: RowChange) -> str:
        """What it says of a row: each leg's weight with the row's score there, spread over 0–1 among the leg's rows."""
        legs: npt.NDArray[np.float64] = row.before.column("leg_scores")
        mine = row.ranking.candidates["leg_scores"][row.position]
        shares = []
        for weight, leg, (name, score) in zip(self._weights(row.before), legs.T, _named(row, mine), strict=True):
            if not np.isnan(score):
                among = minmax(np.append(leg[~np.isnan(leg)], score))  # a value twice changes no minimum and no maximum
                shares.append(f"{weight:g}·{among[-1]:.4f} {name}")
        return f"{' + '.join(shares) or 'no leg found it'} = {{score:.4f}}"

    def _weights(self, ranking: Ranking) -> tuple[float, ...]:
        legs = ranking.candidates["leg_scores"].shape[1]
        pair = two_leg_weights(self.alpha)
        return pair if legs == len(pair) else (1.0,) * legs


def _named(row: RowChange, cells: npt.NDArray[Any]) -> list[tuple[str, Any]]:
    """A row's cells by leg; legs without names are counted from 1."""
    names = row.ranking.candidates.legs or [f"leg {place}" for place in range(1, len(cells) + 1)]
    return list(zip(names, cells.tolist(), strict=True))
