"""Measures as a sum over a count: of a window, of the one before, and day by day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd


@dataclass(frozen=True)
class Ratio:
    """The sum of one column over that of another, times ``scale``."""

    part: str
    whole: str
    scale: int = 1

    def value(self, sums: pd.Series[float]) -> float | None:
        """The figure, or none where there is nothing to form it of."""
        return self.scale * float(sums[self.part]) / float(sums[self.whole]) if sums[self.whole] else None

    def by_day(self, days: pd.DataFrame) -> list[float]:
        """The figure day by day; a day that cannot say is left out, not drawn as zero."""
        whole = days[self.whole].astype("float64")
        shares = self.scale * days[self.part].astype("float64") / whole.where(whole > 0)
        return [float(value) for value in shares.dropna()]


def split(daily: pd.DataFrame, since: datetime) -> tuple[pd.DataFrame, pd.Series[float], pd.Series[float]]:
    """The window's days, its sums, and the sums of the window before."""
    inside = daily["day"] >= since
    numbers = daily.select_dtypes("number")
    now, then = (numbers[chosen].sum().astype("float64") for chosen in (inside, ~inside))
    return daily[inside], now, then
