from dataclasses import dataclass

import numpy as np

from ranking.anchors import RegexAnchorExtractor, TimeAnchor
from ranking.candidates import Scores
from ranking.composite import hours_since
from ranking.limits import finite, option
from ranking.options import Option
from ranking.ranking import Ranking
from ranking.sentences import RowChange
from ranking.word_anchors import WordAnchorExtractor

DEFAULT_BOOST = 0.40
_HOURS_PER_DAY = 24.0


class TemporalMode(Option):
    """How nearness in time joins the score."""

    ADDITIVE = "additive"
    MULTIPLICATIVE = "multiplicative"


def temporal_proximity(age_days: Scores, days: float, tolerance: float) -> Scores:
    """1 within the tolerance of the day meant, linear to 0 at three times it; 0 without a date or tolerance (003)."""
    if tolerance <= 0:
        return np.zeros_like(age_days)
    away = np.abs(age_days - days)
    ramp = (1.0 - (away - tolerance) / (2.0 * tolerance)).clip(0.0, 1.0)
    return np.where(np.isnan(age_days), 0.0, ramp)


def rerank_temporal(
    scores: Scores,
    age_days: Scores,
    anchor: TimeAnchor | None,
    boost: float = DEFAULT_BOOST,
    mode: TemporalMode | str = TemporalMode.ADDITIVE,
) -> Scores:
    """``score + 0.40·proximity``, the score itself without an anchor or boost (003).

    Added, an on-date row of half the best score can win on its date alone; multiplied, ``score·(1 + boost·proximity)``,
    a weak row has little to multiply.
    """
    if anchor is None or boost <= 0:
        return scores
    bonus = boost * temporal_proximity(age_days, anchor.days, anchor.tolerance)
    return scores * (1.0 + bonus) if TemporalMode(mode) is TemporalMode.MULTIPLICATIVE else scores + bonus


@dataclass(frozen=True)
class Temporal:
    """Lift rows dated near the time the query names; a query that names none changes nothing (003)."""

    boost: float = DEFAULT_BOOST
    mode: TemporalMode = TemporalMode.ADDITIVE
    whole_words: bool = False

    def __post_init__(self) -> None:
        finite("boost", self.boost)
        option("mode", TemporalMode, self.mode)

    def __call__(self, ranking: Ranking) -> Ranking:
        now = ranking.candidates.time()
        extractor = WordAnchorExtractor() if self.whole_words else RegexAnchorExtractor()
        anchor = extractor.anchor(ranking.candidates.asked(), now)
        age = hours_since(ranking.column("created_at"), now) / _HOURS_PER_DAY
        return ranking.scored(self, rerank_temporal(ranking.scores, age, anchor, self.boost, self.mode))

    def wording(self, row: RowChange) -> str:
        """What it says of a row: how near it is, from 0 to 1, and what the boost makes of that."""
        if row.score == row.score_before or not self.boost:
            return "dated near the time asked for: {delta:+.4f}"
        multiplied = self.mode is TemporalMode.MULTIPLICATIVE
        near = (row.score - row.score_before) / (self.boost * (row.score_before if multiplied else 1.0))
        formula = f"{{before:.4f}}·{self.boost:g}·{near:.4f}" if multiplied else f"{self.boost:g}·{near:.4f}"
        return f"dated near the time asked for: {formula} = {{delta:+.4f}}"
