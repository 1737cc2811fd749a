import math
from enum import Enum

import numpy as np


def within(name: str, value: float, low: float, high: float = math.inf) -> None:
    """Raise unless ``low ≤ value ≤ high`` and finite; NaN is never within."""
    if not low <= value <= high:
        expected = f"{low:g} or more" if math.isinf(high) else f"{low:g} to {high:g}"
        raise ValueError(f"{name}: expected {expected}, found {_shown(value)}")
    finite(name, value)


def whole(name: str, value: int, low: int | None = None) -> None:
    """Raise unless the number is an integer, and no smaller than ``low``; True is a flag, not a number."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"{name}: expected a whole number, found {value!r}")  # noqa: TRY004 - doors raise one kind
    if low is not None:
        within(name, value, low)


def finite(name: str, value: float) -> None:
    """Raise unless the number is finite and fits a float."""
    try:
        fits = math.isfinite(value)
    except OverflowError:
        fits = False
    if not fits:
        raise ValueError(f"{name}: expected a finite number, found {_shown(value)}")


def option(name: str, kind: type[Enum], value: object) -> None:
    """Raise unless the value is one of the options, as a member or as its text."""
    if value not in [member.value for member in kind]:
        raise ValueError(f"{name}: expected {', '.join(member.value for member in kind)}, found {value!r}")


def _shown(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:g}"
