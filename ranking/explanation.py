from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ranking.candidates import Positions
from ranking.ranking import Ranking, Stage

DIGITS = 4


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
        step = Decimal(1).scaleb(-digits)
        scores = [Decimal(0).quantize(step), *(Decimal(effect.score).quantize(step) for effect in self.effects)]
        return [(score, score - before) for before, score in pairwise(scores)]


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
        places = [step.ranks_of(self.positions) for step in steps]
        scores = [_scores_at(step.scores, step.find(self.positions)) for step in steps]
        explained = []
        for column, position in enumerate(self.positions.tolist()):
            effects: list[StageEffect] = []
            before = 0.0
            for step, rank_of, score_of in zip(steps, places, scores, strict=True):
                place = int(rank_of[column])
                score = float(score_of[column]) if place >= 0 else before
                # sentences are read beside tables, which count from 1
                facts = {"score": score, "delta": score - before, "place": place + 1}
                sentence = _sentence(step.stage, self.ranking, position, facts)
                effects.append(StageEffect(step.stage, score, score - before, place if place >= 0 else None, sentence))
                if place < 0:
                    break
                before = score
            explained.append(RowExplanation(candidates.ids[position], tuple(effects)))
        return tuple(explained)


def explain(ranking: Ranking, k: int | None = None, ids: Sequence[Any] | None = None) -> Explanation:
    """Explain the best ``k`` rows, or the rows named by ``ids``, returned or not."""
    if ids is not None:
        return Explanation(ranking, np.array([ranking.candidates.position(label) for label in ids], dtype=np.intp))
    return Explanation(ranking, ranking.order() if k is None else ranking.best(k))


def why_above(ranking: Ranking, upper: Any, lower: Any) -> str:  # noqa: ANN401 - ids are of any kind
    """One sentence on why one row stands above another: the stage after which it did for good, and by how much."""
    first, second = explain(ranking, ids=[upper, lower]).rows
    if first.dropped_by is not None or second.dropped_by is not None:
        gone = first if first.dropped_by is not None else second
        return f"{gone.id} was not returned: {gone.effects[-1].sentence}"
    if not first.effects or first.rank is None or second.rank is None:
        return f"{upper} and {lower} were not ranked: the pipeline has no stages"
    if first.rank > second.rank:
        return f"{upper} does not stand above {lower}: {why_above(ranking, lower, upper)}"
    decisive = _decisive(first, second)
    mine, theirs = first.effects[decisive], second.effects[decisive]
    if first.score == second.score:
        reason = "scores are equal and candidate order decides"
    elif first.score < second.score:
        reason = "that stage fixed the order, whatever the scores"
    else:
        reason = f"{mine.delta:+.{DIGITS}f} against {theirs.delta:+.{DIGITS}f}"
    stage = type(mine.stage).__name__
    return f"{upper} stands above {lower} since {stage}: {reason} ({mine.sentence}; {theirs.sentence})"


def why_not_returned(ranking: Ranking, label: Any, k: int | None = None) -> str:  # noqa: ANN401 - ids are of any kind
    """One sentence on why a row is not among the results: the stage that dropped it, or its place beyond ``k``."""
    row = explain(ranking, ids=[label]).rows[0]
    if row.dropped_by is not None:
        before = next((effect.rank for effect in reversed(row.effects[:-1])), None)
        place = "" if before is None else f" from place {before + 1}"
        return f"{label} was dropped by {type(row.dropped_by).__name__}{place}: {row.effects[-1].sentence}"
    if k is not None and row.rank is not None and row.rank >= k:
        return f"{label} has place {row.rank + 1}, beyond the best {k}"
    return f"{label} was returned" + ("" if row.rank is None else f" at place {row.rank + 1}")


def _decisive(first: RowExplanation, second: RowExplanation) -> int:
    """The stage since which the first row has stood above the second without a break."""
    decisive = len(first.effects) - 1
    while decisive > 0:
        mine, theirs = first.effects[decisive - 1].rank, second.effects[decisive - 1].rank
        if mine is None or theirs is None or mine > theirs:
            break
        decisive -= 1
    return decisive


def _scores_at(scores: npt.NDArray[np.float64], found: Positions) -> npt.NDArray[np.float64]:
    return scores[found] if scores.size else np.zeros(found.size)


def _sentence(stage: Stage, ranking: Ranking, position: int, facts: dict[str, Any]) -> str:
    """The stage's own words about one row, filled from its fields and the row's columns."""
    name, delta, held = type(stage).__name__, facts["delta"], facts["place"] > 0
    template: str | None = getattr(stage, "words" if held else "dropped", None)
    if template is None:
        return f"{name}: {delta:+.{DIGITS}f}" if held else f"dropped by {name}"
    if held and delta == 0 and "{delta" in template:
        return f"{name} adds nothing"
    return template.format_map(_Evidence(stage, ranking, position, facts))


class _Evidence(dict[str, Any]):
    """What a sentence may name: score, delta and place, the stage's fields, then the row's columns."""

    def __init__(self, stage: Stage, ranking: Ranking, position: int, facts: dict[str, Any]) -> None:
        super().__init__(facts)
        self.update({entry.name: getattr(stage, entry.name) for entry in fields(stage)})  # type: ignore[arg-type]
        self._columns, self._position = ranking.candidates, position

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - as the column
        return self._columns[name][self._position]
