import math


def within(name: str, value: float, low: float, high: float = math.inf) -> None:
    """Raise unless ``low ≤ value ≤ high``; NaN is never within."""
    if not low <= value <= high:
        expected = f"{low:g} or more" if math.isinf(high) else f"{low:g} to {high:g}"
        raise ValueError(f"{name}: expected {expected}, found {value:g}")


def finite(name: str, value: float) -> None:
    """Raise unless the number is finite."""
    if not math.isfinite(value):
        raise ValueError(f"{name}: expected a finite number, found {value:g}")
