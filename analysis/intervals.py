"""95 % intervals of shares, means and resampled sessions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Scores = npt.NDArray[np.float64]
    Seen = tuple[int, int]  # a part, and the whole that it is of

Z = 1.959963984540054  # standard errors on either side of 95 %
FLOOR = 30  # sessions with an outcome; below it an interval spans a third of the scale and more
DRAWS, SEED = 10_000, 20_260_301
MIDDLE = (2.5, 97.5)  # percent


@dataclass(frozen=True)
class Interval:
    """A figure and the 95 % interval around it."""

    value: float
    low: float
    high: float


def wilson(part: float, whole: float) -> Interval:
    """A share with Wilson's 95 % interval, which stays inside 0 to 1 and holds for few cases too."""
    share = part / whole
    middle = (share + Z * Z / (2 * whole)) / (1 + Z * Z / whole)
    half = Z * math.sqrt(share * (1 - share) / whole + Z * Z / (4 * whole * whole)) / (1 + Z * Z / whole)
    return Interval(share, max(middle - half, 0.0), min(middle + half, 1.0))


def newcombe(now: Seen, before: Seen) -> Interval:
    """The difference of two shares with Newcombe's 95 % interval: made of Wilson's, so it holds for few cases too."""
    one, other = wilson(*now), wilson(*before)
    change = one.value - other.value
    below = math.hypot(one.value - one.low, other.high - other.value)
    above = math.hypot(one.high - one.value, other.value - other.low)
    return Interval(change, change - below, change + above)


def mean(count: int, total: float, squares: float) -> Interval:
    """A mean with its 95 % interval by the normal law, from sum and sum of squares."""
    value = total / count
    variance = max(squares - count * value * value, 0.0) / max(count - 1, 1)
    half = Z * math.sqrt(variance / count)
    return Interval(value, max(value - half, 0.0), value + half)


def resampled(*sides: Sequence[int]) -> list[Scores]:
    """Shares of ``DRAWS`` resamplings of each side's sessions, one row each; a side counts its sessions by outcome.

    The session is what is drawn again, because its retrievals share one outcome. Drawing n sessions with replacement
    is one draw of a multinomial over the outcomes, so that counts suffice and the seed makes it repeatable.
    """
    generator = np.random.default_rng(SEED)
    totals = [sum(side) for side in sides]
    return [
        generator.multinomial(total, np.asarray(side) / total, size=DRAWS) / total
        for side, total in zip(sides, totals, strict=True)
    ]


def share(seen: Seen, drawn: Scores) -> Interval:
    """A share with the middle 95 % of its resamplings, or Wilson's interval where all or none are the part."""
    return wilson(*seen) if _is_whole_or_none(seen) else _middle(seen[0] / seen[1], drawn)


def difference(now: Seen, before: Seen, drawn: Scores) -> Interval:
    """The difference of two shares with the middle 95 % of its resamplings, or Newcombe's where one is 0 or 1."""
    if _is_whole_or_none(now) or _is_whole_or_none(before):
        return newcombe(now, before)
    return _middle(now[0] / now[1] - before[0] / before[1], drawn)


def _is_whole_or_none(seen: Seen) -> bool:
    """Whether every resampling of it is the same, as if nothing else could have come of so many."""
    return seen[0] in (0, seen[1])


def _middle(value: float, drawn: Scores) -> Interval:
    low, high = np.percentile(drawn, MIDDLE)
    return Interval(value, float(low), float(high))
