import math
from dataclasses import dataclass

import numpy as np

from ranking.candidates import Candidates, Positions, Scores
from ranking.limits import finite, option, within
from ranking.options import Option
from ranking.order import ranks, stable_order
from ranking.ranking import Ranking
from ranking.sentences import RowChange

SUCCESS_RATE = 0.1
FAILURE_RATE = 0.15
MISLEADING_AFTER_FAILED_SESSIONS = 3


class Outcome(Option):
    """How a session ended; rework counts as failure."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REWORK = "rework"


class Normalise(Option):
    """Whether relevance is spread over 0–1 before it is multiplied."""

    NONE = "none"
    MINMAX = "minmax"


def minmax(scores: Scores) -> Scores:
    """``(s - min) / (max - min)``; without any span every score is 1, as in score fusion (003)."""
    if not scores.size:
        return scores
    low, high = float(scores.min()), float(scores.max())
    if not high > low:
        return np.ones_like(scores)
    # a span beyond the largest float is measured in halves
    unit = 1.0 if math.isfinite(high - low) else 0.5
    return (scores * unit - low * unit) / (high * unit - low * unit)


def weighted_scores(relevance: Scores, weight: Scores, normalise: Normalise | str = Normalise.NONE) -> Scores:
    """``relevance × weight`` (001); min-max first lets relevance count as much as a weight that spans 0–1 does."""
    return (minmax(relevance) if Normalise(normalise) is Normalise.MINMAX else relevance) * weight


@dataclass(frozen=True, eq=False)
class FeedbackRanking:
    """Columns aligned with the candidates, as ``retrieval_ab_logs`` keeps them; ``order`` is best first."""

    weighted_score: Scores
    unweighted_rank: Positions
    weighted_rank: Positions
    order: Positions

    @property
    def rank_delta(self) -> Positions:
        """``unweighted - weighted``: positive moved up."""
        return self.unweighted_rank - self.weighted_rank


def apply_feedback_ranking(
    candidates: Candidates,
    weighting_enabled: bool = True,  # noqa: FBT001, FBT002 - the documents' own argument
    normalise: Normalise | str = Normalise.NONE,
) -> FeedbackRanking:
    """Both orders of one retrieval: by relevance, and by ``relevance × weight`` if weighting is on (001)."""
    relevance, weight = candidates["relevance"], candidates["weight"]
    weighted = weighted_scores(relevance, weight, normalise) if weighting_enabled else relevance
    return FeedbackRanking(weighted, ranks(relevance), ranks(weighted), stable_order(weighted))


def learning_rate(outcome: Outcome | str, *, misleading: bool = False) -> float:
    """α of one outcome: failures teach faster than successes, misleading ones twice as fast."""
    return (SUCCESS_RATE if Outcome(outcome) is Outcome.ACCEPTED else FAILURE_RATE) * (2 if misleading else 1)


def update_weight(weight: float, outcome: Outcome | str, *, misleading: bool = False) -> float:
    """``w·(1-α) + signal·α``: α 0.1 on success, 0.15 on failure, twice that if misleading; never above 1 from 1."""
    finite("weight", weight)
    rate = learning_rate(outcome, misleading=misleading)
    return weight * (1 - rate) + (Outcome(outcome) is Outcome.ACCEPTED) * rate


def is_misleading(*, named_by_diagnostics: bool, failed_sessions: int) -> bool:
    """Whether an observation misled: diagnostics say so, or three or more sessions that were given it failed."""
    within("failed_sessions", failed_sessions, 0)
    return named_by_diagnostics or failed_sessions >= MISLEADING_AFTER_FAILED_SESSIONS


def weight_dominance(relevance: Scores, weight: Scores) -> float | None:
    """``var(ln w) / (var(ln w) + var(ln r))``: how much of the product's spread is the weight's, None if it has none.

    Logarithms, because the score is a product. Rows without a positive relevance and weight have none and are left out.
    """
    usable = (relevance > 0) & (weight > 0)
    if not usable.any():
        return None
    by_weight, by_relevance = (float(np.var(np.log(column[usable]))) for column in (weight, relevance))
    total = by_weight + by_relevance
    return by_weight / total if total > 0 else None


@dataclass(frozen=True)
class Feedback:
    """Multiply by what sessions made of the observation; with ``enabled=False`` the score stands (001)."""

    enabled: bool = True
    normalise: Normalise = Normalise.NONE

    def __post_init__(self) -> None:
        option("normalise", Normalise, self.normalise)

    def __call__(self, ranking: Ranking) -> Ranking:
        weight = ranking.column("weight")  # asked for even when off: it is still carried and logged
        scores = weighted_scores(ranking.scores, weight, self.normalise) if self.enabled else ranking.scores
        return ranking.scored(self, scores)

    def wording(self, row: RowChange) -> str:
        """What it says of a row: what is multiplied, by which weight, and what comes of it."""
        if not self.enabled:
            return "feedback weighting is off: weight {weight:.3f} changes nothing"
        base, scaled = "{before:.4f}", ""
        if self.normalise is Normalise.MINMAX:
            share = minmax(np.append(row.before.scores, row.score_before))[-1]
            base, scaled = f"{share:.4f}", "scaled to 0–1 among these rows, then "
        return f"{scaled}multiplied by feedback weight {{weight:.3f}}: {base} × {{weight:.3f}} = {{score:.4f}}"
