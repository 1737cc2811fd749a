import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ranking.candidates import Flags, Scores
from ranking.options import Option
from ranking.ranking import Ranking


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
    cut = min(max(value, 0.0), 1.0)
    keep = scores >= (cut if FloorMode(mode) is FloorMode.ABSOLUTE else cut * scores[first])
    keep[first] = True
    return keep


@dataclass(frozen=True)
class Floor:
    """Drop rows in the noise, never the best: a small store still answers (004)."""

    mode: FloorMode = FloorMode.OFF
    value: float = 0.0
    words: ClassVar[str] = "above the floor"
    dropped: ClassVar[str] = "below the floor, {mode} {value:g}"

    def __post_init__(self) -> None:
        above_floor(np.empty(0), self.mode, self.value)

    def __call__(self, ranking: Ranking) -> Ranking:
        first = ranking.last.head(1)
        top = int(first[0]) if first.size else None
        return ranking.kept(self, above_floor(ranking.scores, self.mode, self.value, top))
