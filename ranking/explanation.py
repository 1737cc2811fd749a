from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ranking.candidates import Positions
from ranking.ranking import Ranking, Stage, Step
from ranking.sentences import DIGITS, RowChange, difference, rounded, sentence


@dataclass(frozen=True)
class StageEffect:
    """What one stage did to one row: score, delta and 0-based rank after it, in a sentence; rank None if dropped."""

    stage: Stage
    score: float
    delta: float
    rank: int | None
    sentence: str

    @property
    def held(self) -> bool:
        """Whether the row was still there after the stage."""
        return self.rank is not None


@dataclass(frozen=True)
class RowExplanation:
    """One row's way through the pipeline, up to the stage that dropped it."""

    id: Any
    effects: tuple[StageEffect, ...]

    @property
    def rank(self) -> int | None:
        """The final 0-based rank, None if the row was dropped."""
        return self.effects[-1].rank if self.effects else None

    @property
    def score(self) -> float:
        """The last score."""
        return self.effects[-1].score if self.effects else 0.0

    @property
    def dropped_by(self) -> Stage | None:
        """The stage that dropped the row, None if it was returned."""
        return None if not self.effects or self.effects[-1].held else self.effects[-1].stage

    def shown(self, digits: int = DIGITS) -> list[tuple[Decimal, Decimal]]:
        """(score, delta) per stage, rounded so that the deltas shown add up to the score shown, to the last digit."""
        scores = [rounded(0.0, digits), *(rounded(effect.score, digits) for effect in self.effects)]
        return [(score, difference(score, before)) for before, score in pairwise(scores)]


class Explanation:
    """Why these rows stand where they stand; computed for the rows shown, when first asked for."""

    def __init__(self, ranking: Ranking, rows: Positions) -> None:
        self.ranking = ranking
        self.positions = rows

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def rows(self) -> tuple[RowExplanation, ...]:
        """One explanation per row, in the order asked for."""
        candidates, steps = self.ranking.candidates, self.ranking.steps
        found = _found(steps, self.positions)
        places = [step.ranks_at(at) for step, at in zip(steps, found, strict=True)]
        scores = [_scores_at(step.scores, at) for step, at in zip(steps, found, strict=True)]
        explained = []
        for column, position in enumerate(self.positions.tolist()):
            effects: list[StageEffect] = []
            # before the first stage every row scores 0 and candidate order stands
            rank_before, before = position, 0.0
            for step, rank_of, score_of in zip(steps, places, scores, strict=True):
                place = int(rank_of[column])
                rank = place if place >= 0 else None
                score = before if rank is None else float(score_of[column])
                words = sentence(RowChange(self.ranking, step, position, rank_before, rank, before, score))
                effects.append(StageEffect(step.stage, score, score - before, rank, words))
                if rank is None:
                    break
                rank_before, before = rank, score
            explained.append(RowExplanation(candidates.ids[position], tuple(effects)))
        return tuple(explained)


def explain(ranking: Ranking, k: int | None = None, ids: Sequence[Any] | None = None) -> Explanation:
    """Explain the best ``k`` rows, or the rows named by ``ids``, returned or not."""
    if ids is not None:
        return Explanation(ranking, np.array([ranking.candidates.position(label) for label in ids], dtype=np.intp))
    return Explanation(ranking, ranking.order() if k is None else ranking.best(k))


def _found(steps: Sequence[Step], rows: Positions) -> list[Positions]:
    """Where each step has the rows; a stage that only scored left them where they were."""
    found: list[Positions] = []
    before: Step | None = None
    for step in steps:
        found.append(found[-1] if before is not None and before.positions is step.positions else step.find(rows))
        before = step
    return found


def _scores_at(scores: npt.NDArray[np.float64], found: Positions) -> npt.NDArray[np.float64]:
    return scores[found] if scores.size else np.zeros(found.size)
