"""95 % intervals of shares and means."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z = 1.959963984540054  # of 95 %


@dataclass(frozen=True)
class Interval:
    """A figure and the 95 % interval around it."""

    value: float
    low: float
    high: float


def wilson(part: int, whole: int) -> Interval:
    """A share with Wilson's 95 % interval, which stays inside 0 to 1 and holds for few cases too."""
    share = part / whole
    middle = (share + Z * Z / (2 * whole)) / (1 + Z * Z / whole)
    half = Z * math.sqrt(share * (1 - share) / whole + Z * Z / (4 * whole * whole)) / (1 + Z * Z / whole)
    return Interval(share, max(middle - half, 0.0), min(middle + half, 1.0))


def mean(count: int, total: float, squares: float) -> Interval:
    """A mean with its 95 % interval by the normal law, from sum and sum of squares."""
    value = total / count
    variance = max(squares - count * value * value, 0.0) / max(count - 1, 1)
    half = Z * math.sqrt(variance / count)
    return Interval(value, max(value - half, 0.0), value + half)
