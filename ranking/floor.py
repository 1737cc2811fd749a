import math
from dataclasses import dataclass

import numpy as np

from ranking.candidates import Flags, Scores
from ranking.limits import option
from ranking.options import Option
from ranking.ranking import Ranking
from ranking.sentences import RowChange


class FloorMode(Option):
    """What a score is held against."""

    OFF = "off"
    ABSOLUTE = "absolute"
    RELATIVE_TO_TOP = "relative_to_top"


def above_floor(scores: Scores, mode: FloorMode | str, value: float, top: int | None = None) -> Flags:
    """Which rows reach the cut-off, ``value`` or ``value·top score``; equal stays, and so does the top row (004).

    The value is clamped to 0–1 as the document does; ``top`` is the row of first rank, the first best unless given.
    """
    if math.isnan(value):
        raise ValueError("floor value: expected a number, found nan")
    if FloorMode(mode) is FloorMode.OFF or not scores.size:
        return np.ones(scores.size, dtype=np.bool_)
    first = int(scores.argmax()) if top is None else top
    keep = scores >= cut_off(mode, value, scores[first])
    keep[first] = True
    return keep


def cut_off(mode: FloorMode | str, value: float, top: float) -> float:
    """The least score that is above a floor that is on: ``value``, or ``value·top``, the value clamped to 0–1."""
    return clamped(value) * (1.0 if FloorMode(mode) is FloorMode.ABSOLUTE else top)


def clamped(value: float) -> float:
    """The nearest number within 0–1."""
    return min(max(value, 0.0), 1.0)


@dataclass(frozen=True)
class Floor:
    """Drop rows in the noise, never the best: a small store still answers (004)."""

    mode: FloorMode = FloorMode.OFF
    value: float = 0.0

    def __post_init__(self) -> None:
        option("mode", FloorMode, self.mode)
        above_floor(np.empty(0), self.mode, self.value)

    def __call__(self, ranking: Ranking) -> Ranking:
        first = ranking.last.head(1)
        top = int(first[0]) if first.size else None
        return ranking.kept(self, above_floor(ranking.scores, self.mode, self.value, top))

    def wording(self, row: RowChange) -> str:
        """What it says of a row: the best stays even below the floor."""
        if self.mode is FloorMode.OFF:
            return "no floor is set"
        floor = f"the floor, {{mode}} {clamped(self.value):g}"
        if not row.held:
            return f"below {floor}"
        # of the rows held only the best may be below
        if row.rank_before == 0 and row.score < cut_off(self.mode, self.value, row.score):
            return f"below {floor}, but the best row stays"
        return f"reaches {floor}"
