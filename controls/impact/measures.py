"""The nine measures of Feedback Impact: how each is formed from sums, shown, and read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.health.change import is_chance
from analysis.ratios import Ratio
from controls import glossary
from controls.figures import WIDE, Figure, in_a_row
from controls.grid import grid
from controls.health.words import points, unclear
from controls.messages import MISSING, compared, digits

if TYPE_CHECKING:
    from controls.impact.answers import Impact

UNSURE = " ≈, unclear: too few to tell it from chance (95 %)."
TESTED = "Only shares of retrievals are tested for chance."
SMALLEST_CHANGE = 0.0005
GOOD_RATE, FAIR_RATE = 0.7, 0.4


@dataclass(frozen=True)
class Measure:
    """A ratio with its words; what has the ``unit`` percent differs by points.

    Of a ``share`` of retrievals it can be told whether a change may be chance. Candidates of one retrieval are no
    single events, and of means the log's sums have no spread.
    """

    name: str
    label: str
    of: Ratio
    explained: str
    unit: str = ""
    share: bool = False

    def shown(self, value: float | None) -> str:
        """Three significant digits."""
        return MISSING if value is None else f"{digits(value)}{self.unit}"

    def change(self, found: Impact) -> str | None:
        """Against the window before; shares in percentage points, with a sign where it may be chance."""
        now, then = self.of.value(found.now), self.of.value(found.then)
        if now is None or then is None:
            return None
        difference = now - then
        if abs(difference) < SMALLEST_CHANGE * self.of.scale:
            return "no change"
        told = points(difference) if self.unit else digits(difference, 2, signed=True)
        return unclear(told) if self.share and self._is_chance(found) else told

    def _is_chance(self, found: Impact) -> bool:
        """By the rule of Health and Overview, on as many retrievals as were seen."""
        now, then = (
            (round(sums[self.of.part] * found.seen), round(sums[self.of.whole] * found.seen))
            for sums in (found.now, found.then)
        )
        return is_chance(now, then)


def _share(name: str, label: str, part: str, whole: str, explained: str) -> Measure:
    return Measure(name, label, Ratio(part, whole, 100), explained, " %", share=True)


def measures(top: int) -> list[Measure]:
    """All nine, the first five for the head of the page."""
    return [
        _share("top_k", f"Top {top} changed", "top_k", "comparable", glossary.top_changed(top)),
        _share("block", "Block changed", "block_changed", "block_known", glossary.BLOCK_CHANGED),
        Measure("move", "Mean move", Ratio("shift", "candidates"), glossary.MEAN_MOVE),
        Measure("overlap", "RBO", Ratio("overlap", "comparable"), glossary.RBO_BY_FEEDBACK),
        Measure("rate", "Injection rate", Ratio("injected", "block_rows", 100), glossary.INJECTION_RATE, " %"),
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


def head(found: Impact, top: int, days: int) -> None:
    """The first five, each with trend, band and change, and what the changes are against."""
    shown = [_figure(measure, found) for measure in measures(top)[:5]]
    in_a_row(shown, WIDE)
    unsure = UNSURE if any((each.beside or "").startswith("≈") for each in shown) else ""
    tested = f"{unsure} {TESTED}" if found.then["comparable"] else ""
    rate = f" An injection rate of {100 * FAIR_RATE:.0f} to {100 * GOOD_RATE:.0f} % is usual."
    bands = rate if any(":" in each.label for each in shown) else ""
    compared(found.then["retrievals"], days, f"{tested} Lines are by day.{bands}")


def _figure(measure: Measure, found: Impact) -> Figure:
    value = measure.of.value(found.now)
    said = band(measure.name, value)
    return Figure(
        measure.label if not said else f"{measure.label}: {said}",
        measure.shown(value) if value is None else f"{found.about}{measure.shown(value)}",
        measure.change(found),
        measure.explained,
        arrow=True,
        line=measure.of.by_day(found.days),
    )


def table(found: Impact, top: int) -> None:
    """All nine with trend and the window before; how to read them as text, which no window cuts off."""
    rows = [(each, each.of.value(found.now), each.of.value(found.then)) for each in measures(top)]
    grid(
        pd.DataFrame(
            {
                "measure": [each.label for each, _, _ in rows],
                "now": [each.shown(value) for each, value, _ in rows],
                "before": [each.shown(value) for each, _, value in rows],
                "change": [each.change(found) or MISSING for each, _, _ in rows],
                "trend": [each.of.by_day(found.days) for each, _, _ in rows],
                "of": [int(found.now[each.of.whole]) for each, _, _ in rows],
                "exact": [MISSING if value is None else repr(value) for _, value, _ in rows],
            }
        ),
        hide_index=True,
        key="measures",
        column_config={
            "measure": st.column_config.TextColumn("Measure", width=150, pinned=True),
            "now": st.column_config.TextColumn("This window", width=95),
            "before": st.column_config.TextColumn("Before", width=80),
            "change": st.column_config.TextColumn("Change", width=125),
            "trend": st.column_config.LineChartColumn("By day", width=150),
            "of": st.column_config.NumberColumn("Based on", width=85, format="localized", help=glossary.AVERAGE_OVER),
            "exact": st.column_config.TextColumn("All digits", width=170),
        },
    )
    with st.expander("How to read each measure"):
        st.markdown("\n".join(f"- **{measure.label}**: {measure.explained}" for measure in measures(top)))
