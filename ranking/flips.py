from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ranking.candidates import Candidates
from ranking.corroboration import Corroboration
from ranking.feedback import Feedback
from ranking.mmr import Mmr
from ranking.options import Option
from ranking.ranking import Ranking, Stage, rank

LARGEST_SCALE = 10.0
LARGEST_WEIGHT = 10.0
_HALVINGS = 24
_PRECISION = 1e-12


class Knob(Option):
    """What an operator could turn."""

    SCALE = "boost scale"
    UPPER_WEIGHT = "weight of the upper row"
    LOWER_WEIGHT = "weight of the lower row"
    LAMBDA = "λ"


@dataclass(frozen=True)
class Flip:
    """The nearest value of a knob at which two rows change places."""

    knob: Knob
    current: float
    needed: float

    @property
    def change(self) -> float:
        """How far the knob has to be turned, with its sign."""
        return self.needed - self.current


def nearest_flip(flipped: Callable[[float], bool], current: float, low: float, high: float) -> float | None:
    """The value nearest to ``current`` within ``low … high`` at which ``flipped`` holds, None if nowhere.

    Looks outwards on both sides at doubling distances, then halves the step in which it first held. Exact where the
    answer changes once on a side, as for scores linear in the knob; of several changes close together one may escape.
    """
    found = []
    for bound in (low, high):
        held = current
        for distance in 2.0 ** np.arange(-_HALVINGS, 1):
            value = current + (bound - current) * float(distance)
            if value != current and flipped(value):
                found.append(_boundary(flipped, held, value))
                break
            held = value
    return min(found, key=lambda value: abs(value - current), default=None)


def _boundary(flipped: Callable[[float], bool], out: float, within_: float) -> float:
    while abs(within_ - out) > _PRECISION * max(1.0, abs(within_)):
        middle = (out + within_) / 2
        out, within_ = (out, middle) if flipped(middle) else (middle, within_)
    return within_


def stands_above(ranking: Ranking, first: int, second: int) -> bool:
    """Whether one row stands above another after the last stage that still held one of them."""
    rows = np.array([first, second], dtype=np.intp)
    for step in reversed(ranking.steps):
        mine, theirs = step.ranks_of(rows).tolist()
        if mine >= 0 or theirs >= 0:
            return bool(mine >= 0 and (theirs < 0 or mine < theirs))
    return first < second


def flip_distance(candidates: Candidates, stages: Sequence[Stage], upper: Any, lower: Any) -> tuple[Flip, ...]:  # noqa: ANN401 - ids
    """Every knob of the pipeline that can make ``lower`` change places with ``upper``, the smallest turn first.

    The whole pipeline is run again for every value tried, so ties, budgets and normalisation count as they do live.
    """
    first, second = candidates.position(upper), candidates.position(lower)
    if not stands_above(rank(candidates, stages), first, second):
        raise ValueError(f"expected {upper!r} above {lower!r}, found it below")
    knobs = [(Corroboration, "scale", Knob.SCALE, LARGEST_SCALE), (Mmr, "lam", Knob.LAMBDA, 1.0)]
    flips: list[Flip | None] = []
    for kind, field, knob, high in knobs:
        for place, stage in enumerate(stages):
            if isinstance(stage, kind):
                turned = partial(_with_stage, candidates, stages, place, field)
                flips.append(_flip(knob, turned, getattr(stage, field), high, (first, second)))
    if any(isinstance(stage, Feedback) and stage.enabled for stage in stages):
        for knob, row in ((Knob.UPPER_WEIGHT, first), (Knob.LOWER_WEIGHT, second)):
            turned = partial(_with_weight, candidates, stages, row)
            flips.append(_flip(knob, turned, float(candidates["weight"][row]), LARGEST_WEIGHT, (first, second)))
    return tuple(sorted(filter(None, flips), key=lambda flip: abs(flip.change)))


def _flip(
    knob: Knob, turned: Callable[[float], Ranking], current: float, high: float, rows: tuple[int, int]
) -> Flip | None:
    low, high = min(0.0, current), max(high, current)  # a weight may stand outside what an operator would set
    needed = nearest_flip(lambda value: stands_above(turned(value), rows[1], rows[0]), current, low, high)
    return None if needed is None else Flip(knob, current, needed)


def _with_stage(candidates: Candidates, stages: Sequence[Stage], place: int, field: str, value: float) -> Ranking:
    turned: Any = replace(stages[place], **{field: value})  # type: ignore[type-var]
    return rank(candidates, (*stages[:place], turned, *stages[place + 1 :]))


def _with_weight(candidates: Candidates, stages: Sequence[Stage], row: int, value: float) -> Ranking:
    weight = candidates["weight"].copy()
    weight[row] = value
    return rank(candidates.with_columns(weight=weight), stages)
