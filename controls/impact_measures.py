"""The nine measures of Feedback Impact: how each is formed from sums, shown, and read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from controls import glossary
from controls.figures import WIDE, Figure, in_a_row
from controls.messages import MISSING, digits

if TYPE_CHECKING:
    from queries.scope import Scope

SMALLEST_CHANGE = 0.0005
GOOD_RATE, FAIR_RATE = 0.7, 0.4


@dataclass(frozen=True)
class Measure:
    """A sum over a count, times ``scale``; ``unit`` follows the figure, ``points`` a difference of two."""

    name: str
    label: str
    part: str
    whole: str
    explained: str
    scale: int = 1
    unit: str = ""
    points: str = ""

    def value(self, sums: pd.Series[float]) -> float | None:
        """The figure, or none where there is nothing to form it of."""
        return self.scale * float(sums[self.part]) / float(sums[self.whole]) if sums[self.whole] else None

    def shown(self, value: float | None) -> str:
        """Three significant digits."""
        return MISSING if value is None else f"{digits(value)}{self.unit}"

    def change(self, now: float | None, then: float | None) -> str | None:
        """Against the window before; shares in percentage points."""
        if now is None or then is None:
            return None
        difference = now - then
        if abs(difference) < SMALLEST_CHANGE * self.scale:
            return "no change"
        return f"{digits(difference, 2, signed=True)}{self.points}"


def _share(name: str, label: str, part: str, whole: str, explained: str) -> Measure:
    return Measure(name, label, part, whole, explained, 100, " %", " pt")


def measures(top: int) -> list[Measure]:
    """All nine, the first five for the head of the page."""
    return [
        _share("top_k", f"Top {top} changed", "top_k", "comparable", glossary.top_changed(top)),
        _share("block", "Block changed", "block_changed", "block_known", glossary.BLOCK_CHANGED),
        Measure("move", "Mean move", "shift", "candidates", glossary.MEAN_MOVE),
        Measure("overlap", "RBO", "overlap", "comparable", glossary.RBO_BY_FEEDBACK),
        _share("rate", "Injection rate", "injected", "block_rows", glossary.INJECTION_RATE),
        _share("top_one", "Top 1 changed", "top_one", "comparable", glossary.TOP_ONE_CHANGED),
        Measure("flips", "Flips per 100", "flips", "block_known", glossary.FLIPS_BY_FEEDBACK_PER_100, scale=100),
        Measure("tau", "Kendall τ-b", "tau", "tau_known", glossary.TAU_BY_FEEDBACK),
        Measure("dominance", "Weight dominance", "dominance", "dominance_known", glossary.WEIGHT_DOMINANCE),
    ]


def band(name: str, value: float | None) -> str:
    """How a figure is to be read, in a word; empty where the field has no bands."""
    if value is None or name != "rate":
        return ""
    return "high" if value > 100 * GOOD_RATE else "usual" if value >= 100 * FAIR_RATE else "low"


def split(daily: pd.DataFrame, scope: Scope) -> tuple[pd.DataFrame, pd.Series[float], pd.Series[float]]:
    """The window's days, its sums, and the sums of the window before."""
    inside = daily["day"] >= scope.since
    numbers = daily.select_dtypes("number")
    now, then = (numbers[chosen].sum().astype("float64") for chosen in (inside, ~inside))
    return daily[inside], now, then


def trend(days: pd.DataFrame, measure: Measure) -> list[float]:
    """The measure day by day; a day that cannot say is left out, not drawn as zero."""
    whole = days[measure.whole].astype("float64")
    shares = measure.scale * days[measure.part].astype("float64") / whole.where(whole > 0)
    return [float(value) for value in shares.dropna()]


def head(days: pd.DataFrame, now: pd.Series[float], then: pd.Series[float], top: int) -> None:
    """The first five, each with trend, band and change."""
    in_a_row((_figure(measure, days, now, then) for measure in measures(top)[:5]), WIDE)


def _figure(measure: Measure, days: pd.DataFrame, now: pd.Series[float], then: pd.Series[float]) -> Figure:
    value = measure.value(now)
    said = band(measure.name, value)
    return Figure(
        measure.label if not said else f"{measure.label}: {said}",
        measure.shown(value),
        measure.change(value, measure.value(then)),
        measure.explained,
        arrow=True,
        line=trend(days, measure),
    )


def table(days: pd.DataFrame, now: pd.Series[float], then: pd.Series[float], top: int) -> None:
    """All nine with trend, the window before, and how to read them."""
    rows = [(each, each.value(now), each.value(then)) for each in measures(top)]
    st.dataframe(
        pd.DataFrame(
            {
                "measure": [each.label for each, _, _ in rows],
                "now": [each.shown(value) for each, value, _ in rows],
                "before": [each.shown(value) for each, _, value in rows],
                "change": [each.change(value, earlier) or MISSING for each, value, earlier in rows],
                "trend": [trend(days, each) for each, _, _ in rows],
                "of": [int(now[each.whole]) for each, _, _ in rows],
                "exact": [MISSING if value is None else repr(value) for _, value, _ in rows],
                "read": [each.explained for each, _, _ in rows],
            }
        ),
        hide_index=True,
        key="measures",
        column_config={
            "measure": st.column_config.TextColumn("Measure", width=150, pinned=True),
            "now": st.column_config.TextColumn("This window", width=95),
            "before": st.column_config.TextColumn("Before", width=80),
            "change": st.column_config.TextColumn("Change", width=90),
            "trend": st.column_config.LineChartColumn("By day", width=150),
            "of": st.column_config.NumberColumn("Based on", width=85, format="localized", help=glossary.AVERAGE_OVER),
            "exact": st.column_config.TextColumn("All digits", width=170),
            "read": st.column_config.TextColumn("How to read it", width=600),
        },
    )
