from dataclasses import dataclass

import numpy as np

from ranking.candidates import Column, Scores
from ranking.limits import finite
from ranking.ranking import Ranking
from ranking.sentences import RowChange

RECENCY_HOURS = 168.0
_HOUR = np.timedelta64(1, "h")


def hours_since(times: Column, now: np.datetime64) -> Scores:
    """Hours from each time to now, NaN where there is no time."""
    hours: Scores = (now - times).astype("timedelta64[us]") / _HOUR
    return hours


def recency(age_hours: Scores) -> Scores:
    """``exp(-age / 168 h)``: a week to a third; an access in the future counts as now, none as 0 (003)."""
    return np.where(np.isnan(age_hours), 0.0, np.exp(-np.maximum(age_hours, 0.0) / RECENCY_HOURS))


def composite_scores(
    relevance: Scores,
    age_hours: Scores,
    importance: Scores,
    weights: tuple[float, float, float] = (0.80, 0.05, 0.15),
) -> Scores:
    """``0.80·relevance/max + 0.05·recency + 0.15·clamp(importance)``: recency that light only decides near-ties (003).

    The maximum starts at 0, so a set of negative scores loses its relevance instead of being turned upside down.
    """
    best = relevance.max(initial=0.0)
    share = relevance / best if best > 0 else np.zeros_like(relevance)
    by_relevance, by_recency, by_importance = weights
    return by_relevance * share + by_recency * recency(age_hours) + by_importance * importance.clip(0.0, 1.0)


@dataclass(frozen=True)
class Composite:
    """Mix the score, as a share of the best, with how recently the row was used and how important it is (003)."""

    relevance: float = 0.80
    recency: float = 0.05
    importance: float = 0.15

    def __post_init__(self) -> None:
        for name in ("relevance", "recency", "importance"):
            finite(name, getattr(self, name))

    def __call__(self, ranking: Ranking) -> Ranking:
        age = hours_since(ranking.column("last_accessed_at"), ranking.candidates.time())
        weights = (self.relevance, self.recency, self.importance)
        return ranking.scored(self, composite_scores(ranking.scores, age, ranking.column("importance"), weights))

    def wording(self, row: RowChange) -> str:
        """What it says of a row: each weight with the number it weighs, and the sum."""
        found, at = row.ranking.candidates, slice(row.position, row.position + 1)
        best = float(row.before.scores.max(initial=0.0))
        parts = {
            "share of the best": (self.relevance, row.score_before / best if best > 0 else 0.0),
            "recency": (self.recency, float(recency(hours_since(found["last_accessed_at"][at], found.time()))[0])),
            "importance": (self.importance, float(found["importance"][row.position].clip(0.0, 1.0))),
        }
        return (
            " + ".join(f"{weight:g}·{value:.4f} {name}" for name, (weight, value) in parts.items()) + " = {score:.4f}"
        )
