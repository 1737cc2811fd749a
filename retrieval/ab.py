"""The two orders of one retrieval, read off the trail its ranking left: what ``retrieval_ab_logs`` keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ranking.corroboration import Corroboration, corroboration_boost
from ranking.feedback import Feedback
from ranking.ranking import Ranking

if TYPE_CHECKING:
    from ranking.candidates import Positions, Scores
    from ranking.ranking import Step


@dataclass(frozen=True, eq=False)
class AbRanks:
    """Columns aligned with the candidates: score with feedback, and the 0-based rank without and with it.

    Both ranks are whole permutations: a row that was dropped before stands below those that were held.
    """

    weighted_score: Scores
    unweighted_rank: Positions
    weighted_rank: Positions
    corroboration_boost: Scores | None


def ab_ranks(ranking: Ranking) -> AbRanks:
    """The order just before the feedback stage and just after it: what later stages do is not feedback's doing.

    Just before, and not by relevance alone, because a boost in front of feedback would pass for its effect. A pipeline
    without that stage has one order, which stands in both columns.
    """
    steps = (Ranking(ranking.candidates).last, *ranking.steps)
    places = [place for place, step in enumerate(steps) if isinstance(step.stage, Feedback)]
    after = places[0] if places else len(steps) - 1
    before = after - 1 if places else after
    return AbRanks(
        weighted_score=_last_scores(ranking, steps[: after + 1]),
        unweighted_rank=_whole_ranks(ranking, steps[before]),
        weighted_rank=_whole_ranks(ranking, steps[after]),
        corroboration_boost=_boost(ranking),
    )


def weighs(ranking: Ranking) -> bool:
    """Whether feedback weighed in this ranking: its pipeline has the stage, and it was on."""
    return any(isinstance(step.stage, Feedback) and step.stage.enabled for step in ranking.steps)


def _last_scores(ranking: Ranking, steps: tuple[Step, ...]) -> Scores:
    """What each candidate scored when it was last held."""
    scores = np.zeros(len(ranking.candidates))
    for step in steps:
        scores[step.positions] = step.scores
    return scores


def _whole_ranks(ranking: Ranking, step: Step) -> Positions:
    ranks = step.ranks_of(ranking.candidates.everything)
    dropped = np.flatnonzero(ranks < 0)
    ranks[dropped] = len(ranks) - dropped.size + np.arange(dropped.size)
    return ranks


def _boost(ranking: Ranking) -> Scores | None:
    scales = [step.stage.scale for step in ranking.steps if isinstance(step.stage, Corroboration)]
    return corroboration_boost(ranking.candidates["corroborating"], scales[0]) if scales else None
