from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import accumulate
from typing import Any

import numpy as np

from ranking.candidates import Candidates, MissingEvidence
from ranking.corroboration import Corroboration
from ranking.feedback import Feedback
from ranking.mmr import Mmr, competing
from ranking.options import Option
from ranking.pipeline_text import STAGES
from ranking.ranking import Ranking, Stage
from ranking.redundancy import RedundancyOf

LARGEST_SCALE = 10.0
LARGEST_WEIGHT = 10.0
_HALVINGS = 16
_PRECISION = 1e-10

# by the order of the rows that compete in an MMR stage: how alike they are
_Alike = dict[bytes, RedundancyOf]


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


@dataclass(frozen=True)
class Flips:
    """The knobs that swap two rows, the smallest turn first, and those of which that cannot be told."""

    found: tuple[Flip, ...]
    untold: tuple[Knob, ...] = ()


def nearest_flip(
    flipped: Callable[[float], bool],
    current: float,
    low: float,
    high: float,
    lead: Callable[[float], float | None] = lambda _: None,
) -> float | None:
    """The value nearest to ``current`` within ``low … high`` at which ``flipped`` holds, None if nowhere.

    Looks outwards on both sides at doubling distances, then halves the step in which it first held. Exact where the
    answer changes once on a side, as for scores linear in the knob; of several changes close together one may escape.
    ``lead`` may say by how much the upper row leads at a value: it finds the boundary sooner and changes no answer.
    Raises ``MissingEvidence`` where that keeps the nearest one from being told.
    """
    found, unseen = [], float("inf")
    for bound in (low, high):
        held = current
        try:
            for distance in 2.0 ** np.arange(-_HALVINGS, 1):
                value = current + (bound - current) * float(distance)
                if value != current and flipped(value):
                    found.append(_boundary(flipped, held, value, lead))
                    break
                held = value
        except MissingEvidence:
            unseen = min(unseen, abs(held - current))
    nearest = min(found, key=lambda value: abs(value - current), default=None)
    if unseen < (float("inf") if nearest is None else abs(nearest - current)):
        raise MissingEvidence(f"nothing is known of values further than {unseen:g} from {current:g}")
    return nearest


def _boundary(
    flipped: Callable[[float], bool], out: float, within_: float, lead: Callable[[float], float | None]
) -> float:
    width = _PRECISION * max(1.0, abs(within_))
    for value in _around_meeting(lead(out), lead(within_), out, within_, width / 2):
        out, within_ = (out, value) if flipped(value) else (value, within_)
    while abs(within_ - out) > width:
        middle = (out + within_) / 2
        out, within_ = (out, middle) if flipped(middle) else (middle, within_)
    return within_


def _around_meeting(
    ahead: float | None, behind: float | None, out: float, within_: float, width: float
) -> tuple[float, ...]:
    """Two values around the point where a lead that is linear between two values is used up; none where it is not."""
    if ahead is None or behind is None or not ahead > 0 > behind:
        return ()
    meeting = out + (within_ - out) * ahead / (ahead - behind)
    side = width if within_ > out else -width
    values = (meeting + side / 2, meeting - side / 2)
    return values if all(min(out, within_) < value < max(out, within_) for value in values) else ()


def stands_above(ranking: Ranking, first: int, second: int) -> bool:
    """Whether one row stands above another after the last stage that still held one of them."""
    rows = np.array([first, second], dtype=np.intp)
    for step in reversed(ranking.steps):
        mine, theirs = step.find(rows).tolist()
        if mine >= 0 and theirs >= 0:
            ahead, behind = (
                (0 if step.tiers is None else -int(step.tiers[at]), step.scores[at]) for at in (mine, theirs)
            )
            return bool(ahead > behind or (ahead == behind and first < second))
        if mine >= 0 or theirs >= 0:
            return bool(mine >= 0)
    return first < second


def flip_distance(candidates: Candidates, stages: Sequence[Stage], upper: Any, lower: Any) -> tuple[Flip, ...]:  # noqa: ANN401 - ids
    """Every knob of the pipeline that can make ``lower`` change places with ``upper``, the smallest turn first.

    Raises ``MissingEvidence`` where that cannot be told of one of them; ``flips_between`` then tells the others.
    """
    flips = flips_between(candidates, stages, upper, lower)
    if flips.untold:
        raise MissingEvidence(f"nothing is known of turning {', '.join(flips.untold)}")
    return flips.found


def flips_between(candidates: Candidates, stages: Sequence[Stage], upper: Any, lower: Any) -> Flips:  # noqa: ANN401 - ids
    """Every knob that can make ``lower`` change places with ``upper``, and those of which that cannot be told.

    Every stage from the one turned on is run again for every value tried, so ties, budgets and normalisation count as
    they do live. A knob cannot be told where turning it asks for evidence nobody has, such as another row's pair score.
    """
    first, second = candidates.position(upper), candidates.position(lower)
    # the ranking as each stage finds it: what stands before a turned stage is the same at every value
    found = list(accumulate(stages, _run, initial=Ranking(candidates)))
    if not stands_above(found[-1], first, second):
        raise ValueError(f"expected {upper!r} above {lower!r}, found it below")
    knobs = [(Corroboration, "scale", Knob.SCALE, LARGEST_SCALE), (Mmr, "lam", Knob.LAMBDA, 1.0)]
    tried: list[tuple[Knob, Callable[[float], Ranking], float, float]] = []
    alike: _Alike = {}
    for kind, field, knob, high in knobs:
        for place, stage in enumerate(stages):
            if isinstance(stage, kind):
                by_value = partial(_with_stage, found[place], stages[place:], alike, field)
                tried.append((knob, by_value, getattr(stage, field), high))
    if any(isinstance(stage, Feedback) and stage.enabled for stage in stages):
        place = next(at for at, stage in enumerate(stages) if isinstance(stage, Feedback) or type(stage) not in STAGES)
        for knob, row in ((Knob.UPPER_WEIGHT, first), (Knob.LOWER_WEIGHT, second)):
            by_value = partial(_with_weight, found[place], stages[place:], alike, row)
            tried.append((knob, by_value, float(candidates["weight"][row]), LARGEST_WEIGHT))
    flips, untold = [], []
    for knob, turned, current, high in tried:
        try:
            flips.append(_flip(knob, turned, current, high, (first, second)))
        except MissingEvidence:
            untold.append(knob)
    return Flips(tuple(sorted(filter(None, flips), key=lambda flip: abs(flip.change))), tuple(dict.fromkeys(untold)))


def _flip(
    knob: Knob, turned: Callable[[float], Ranking], current: float, high: float, rows: tuple[int, int]
) -> Flip | None:
    low, high = min(0.0, current), max(high, current)  # a weight may stand outside what an operator would set
    at = cache(turned)
    needed = nearest_flip(
        lambda value: stands_above(at(value), rows[1], rows[0]),
        current,
        low,
        high,
        lambda value: _lead(at(value), rows),
    )
    return None if needed is None else Flip(knob, current, needed)


def _lead(ranking: Ranking, rows: tuple[int, int]) -> float | None:
    """By how much the upper row scores more, None where scores alone do not decide."""
    last = ranking.last
    upper, lower = last.find(np.array(rows, dtype=np.intp)).tolist()
    return None if last.tiers is not None or min(upper, lower) < 0 else float(last.scores[upper] - last.scores[lower])


def _run(ranking: Ranking, stage: Stage) -> Ranking:
    return stage(ranking)


def _ranked(ranking: Ranking, stages: Sequence[Stage], alike: _Alike) -> Ranking:
    for stage in stages:
        ranking = _chosen(stage, ranking, alike) if isinstance(stage, Mmr) else stage(ranking)
    return ranking


def _chosen(stage: Mmr, ranking: Ranking, alike: _Alike) -> Ranking:
    """The stage run with what is known already of rows in this very order: how alike they are, no knob changes."""
    order = ranking.positions[competing(ranking)].tobytes()
    if order not in alike:
        alike[order] = cache(stage.likeness(ranking))
    return stage.chosen(ranking, alike[order])


def _with_stage(found: Ranking, stages: Sequence[Stage], alike: _Alike, field: str, value: float) -> Ranking:
    turned: Any = replace(stages[0], **{field: value})  # type: ignore[type-var]
    return _ranked(found, (turned, *stages[1:]), alike)


def _with_weight(found: Ranking, stages: Sequence[Stage], alike: _Alike, row: int, value: float) -> Ranking:
    return _ranked(Ranking(found.candidates.with_number("weight", row, value), found.steps), stages, alike)
