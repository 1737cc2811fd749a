import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

import numpy as np

from ranking.candidates import Scores
from ranking.limits import finite
from ranking.ranking import Ranking
from ranking.sentences import RowChange

DEFAULT_ALPHA = 0.1
NOT_GIVEN = 0.5
_MILLIONTH = Decimal("0.000001")
_NO_FRACTION = 2.0**53
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|Infinity)", re.ASCII)


def number(value: object) -> float:
    """A stored value as the number Memsense reads in it: null and blank text are 0, unreadable text is NaN."""
    if value is None:
        return 0.0
    if isinstance(value, str):
        text = value.strip()
        return float(text) if _NUMBER.fullmatch(text) else 0.0 if not text else float("nan")
    return float(value) if isinstance(value, int | float | np.number) else float("nan")


def memory_scores(values: Iterable[object]) -> Scores:
    """Stored quality scores clamped to 0–1: NaN for "not given" becomes 0.5, null becomes 0 (002)."""
    return clamped_memory_score(np.array([number(value) for value in values], dtype=np.float64))


def clamped_memory_score(scores: Scores) -> Scores:
    """Scores clamped to 0–1, NaN as 0.5: a chunk nobody rated is neither good nor bad."""
    return np.where(np.isnan(scores), NOT_GIVEN, scores.clip(0.0, 1.0))


def final_score(rrf: Scores, memory_score: Scores, alpha: float = DEFAULT_ALPHA) -> Scores:
    """``round(rrf + α·memory_score, 6)``: quality settles near-ties; six digits make them ties (002)."""
    return round_to_millionths(rrf + alpha * clamped_memory_score(memory_score))


def round_to_millionths(values: Scores) -> Scores:
    """Six digits, exact halves away from zero, as JavaScript's ``toFixed(6)``; numpy rounds the product instead."""
    with np.errstate(over="ignore"):
        scaled = np.abs(values) * 1e6
    whole = np.floor(scaled)
    # from here on a float has no millionths left to round
    coarse = scaled >= _NO_FRACTION
    part = np.where(coarse, 0.0, scaled) - np.where(coarse, 0.0, whole)
    rounded = np.copysign((whole + (part >= 0.5)) / 1e6, values)  # noqa: PLR2004 - a half
    # within the error of the product only exact decimals can tell on which side of a half a value lies
    unsure = np.flatnonzero(np.abs(part - 0.5) <= 1e-9 + np.where(coarse, 0.0, scaled) * 1e-15)
    distinct, which = np.unique(values[unsure], return_inverse=True)
    exact = [float(Decimal(value).quantize(_MILLIONTH, ROUND_HALF_UP)) for value in distinct.tolist()]
    rounded[unsure] = np.array(exact, dtype=np.float64)[which]
    return np.where(coarse, values, rounded)


@dataclass(frozen=True)
class MemoryScore:
    """Add a tenth of the stored quality score (002)."""

    alpha: float = DEFAULT_ALPHA

    def __post_init__(self) -> None:
        finite("alpha", self.alpha)

    def __call__(self, ranking: Ranking) -> Ranking:
        return ranking.scored(self, final_score(ranking.scores, ranking.column("memory_score"), self.alpha))

    def wording(self, row: RowChange) -> str:
        """What it says of a row."""
        given = clamped_memory_score(row.ranking.candidates["memory_score"][row.position : row.position + 1])
        return f"{self.alpha:g}·{given[0]:.4f} memory score adds {{delta:+.4f}}"
