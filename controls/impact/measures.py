"""The nine measures of Feedback Impact: how each is formed from sums, shown, and read."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from analysis.ratios import Ratio
from controls import glossary
from controls.figures import WIDE, Figure, in_a_row
from controls.messages import MISSING, digits

SMALLEST_CHANGE = 0.0005
GOOD_RATE, FAIR_RATE = 0.7, 0.4


@dataclass(frozen=True)
class Measure:
    """A ratio with its words; ``unit`` follows the figure, ``points`` a difference of two."""

    name: str
    label: str
    of: Ratio
    explained: str
    unit: str = ""
    points: str = ""

    def shown(self, value: float | None) -> str:
        """Three significant digits."""
        return MISSING if value is None else f"{digits(value)}{self.unit}"

    def change(self, now: float | None, then: float | None) -> str | None:
        """Against the window before; shares in percentage points."""
        if now is None or then is None:
            return None
        difference = now - then
        if abs(difference) < SMALLEST_CHANGE * self.of.scale:
            return "no change"
        return f"{digits(difference, 2, signed=True)}{self.points}"


def _share(name: str, label: str, part: str, whole: str, explained: str) -> Measure:
    return Measure(name, label, Ratio(part, whole, 100), explained, " %", " pt")


def measures(top: int) -> list[Measure]:
    """All nine, the first five for the head of the page."""
    return [
        _share("top_k", f"Top {top} changed", "top_k", "comparable", glossary.top_changed(top)),
        _share("block", "Block changed", "block_changed", "block_known", glossary.BLOCK_CHANGED),
        Measure("move", "Mean move", Ratio("shift", "candidates"), glossary.MEAN_MOVE),
        Measure("overlap", "RBO", Ratio("overlap", "comparable"), glossary.RBO_BY_FEEDBACK),
        _share("rate", "Injection rate", "injected", "block_rows", glossary.INJECTION_RATE),
        _share("top_one", "Top 1 changed", "top_one", "comparable", glossary.TOP_ONE_CHANGED),
        Measure("flips", "Flips per 100", Ratio("flips", "block_known", 100), glossary.FLIPS_BY_FEEDBACK_PER_100),
        Measure("tau", "Kendall τ-b", Ratio("tau", "tau_known"), glossary.TAU_BY_FEEDBACK),
        Measure("dominance", "Weight dominance", Ratio("dominance", "dominance_known"), glossary.WEIGHT_DOMINANCE),
    ]


def band(name: str, value: float | None) -> str:
    """How a figure is to be read, in a word; empty where the field has no bands."""
    if value is None or name != "rate":
        return ""
    return "high" if value > 100 * GOOD_RATE else "usual" if value >= 100 * FAIR_RATE else "low"


def head(days: pd.DataFrame, now: pd.Series[float], then: pd.Series[float], top: int, about: str = "") -> None:
    """The first five, each with trend, band and change; ``about`` stands before an estimate."""
    in_a_row((_figure(measure, days, now, then, about) for measure in measures(top)[:5]), WIDE)


def _figure(measure: Measure, days: pd.DataFrame, now: pd.Series[float], then: pd.Series[float], about: str) -> Figure:
    value = measure.of.value(now)
    said = band(measure.name, value)
    return Figure(
        measure.label if not said else f"{measure.label}: {said}",
        measure.shown(value) if value is None else f"{about}{measure.shown(value)}",
        measure.change(value, measure.of.value(then)),
        measure.explained,
        arrow=True,
        line=measure.of.by_day(days),
    )


def table(days: pd.DataFrame, now: pd.Series[float], then: pd.Series[float], top: int) -> None:
    """All nine with trend, the window before, and how to read them."""
    rows = [(each, each.of.value(now), each.of.value(then)) for each in measures(top)]
    st.dataframe(
        pd.DataFrame(
            {
                "measure": [each.label for each, _, _ in rows],
                "now": [each.shown(value) for each, value, _ in rows],
                "before": [each.shown(value) for each, _, value in rows],
                "change": [each.change(value, earlier) or MISSING for each, value, earlier in rows],
                "trend": [each.of.by_day(days) for each, _, _ in rows],
                "of": [int(now[each.of.whole]) for each, _, _ in rows],
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
