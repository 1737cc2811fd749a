"""Health's tables: every measure beside the window before, and where each organization stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.health.change import UNKNOWN
from analysis.health.checks import Check
from controls import glossary
from controls.exactly import all_digits
from controls.grid import WRAPPED, grid
from controls.health.whose import standings
from controls.health.words import SIGNS, about, change, estimated, limits, passage
from controls.links import enter_column
from controls.messages import MISSING, number, window_before

if TYPE_CHECKING:
    from analysis.health.change import Compared, Measure
    from analysis.health.checks import Judged
    from controls.health.answers import HealthAnswers
    from queries.scope import Scope

NO_BAND = "no band"
# measure: what else its rows are counted by, and in a word what is wrong with them
APART = {"integrity": ("lopsided", "unbalanced"), "collapsed": ("unusable_weights", "no number")}


def table(memory: HealthAnswers) -> None:
    """Every measure beside the window before, with band and counts; what needs a hand first."""
    judged = {each.check.name: each for each in memory.checks}
    order = {"red": 0, "watch": 1, "good": 3, "unknown": 4}

    def place(each: Compared) -> tuple[int, bool]:
        own = judged.get(each.measure.name)
        return (2 if own is None else order[own.band], not each.noticed)

    found = sorted(memory.compared, key=place)
    exact = all_digits("health_digits")
    grid(
        pd.DataFrame(
            {
                "check": [each.measure.label for each in found],
                "value": [estimated(each.measure, each.now, memory.shares) for each in found],
                "before": [estimated(each.measure, each.before, memory.shares) for each in found],
                "change": [change(each) for each in found],
                "band": [
                    SIGNS[judged[each.measure.name].band] if each.measure.name in judged else NO_BAND for each in found
                ],
                "counts": [_counts(each.measure, memory) for each in found],
                "limits": [limits(each.measure) if isinstance(each.measure, Check) else MISSING for each in found],
                "exact": [MISSING if each.now is None else repr(each.now) for each in found],
                "exact_before": [MISSING if each.before is None else repr(each.before) for each in found],
            }
        ).drop(columns=[] if exact else ["exact", "exact_before"]),
        hide_index=True,
        height="content",
        key="checks",
        column_config={
            "check": st.column_config.TextColumn("Measure", width=135, pinned=True),
            "value": st.column_config.TextColumn("Now", width=70),
            "before": st.column_config.TextColumn("Before", width=70),
            "change": st.column_config.TextColumn("Change", width=145),
            "band": st.column_config.TextColumn("Band", width=115),
            "counts": st.column_config.TextColumn("Based on", width=165),
            "limits": st.column_config.TextColumn("Bands", width=235),
            "exact": st.column_config.TextColumn("All digits", width=150),
            "exact_before": st.column_config.TextColumn("Before, all digits", width=150),
        },
    )


def _counts(measure: Measure, memory: HealthAnswers) -> str:
    part, whole = memory.counts.get(measure.part), memory.counts.get(measure.whole or "")
    if part is None or whole is None:
        return MISSING
    name, word = APART.get(measure.name, ("", ""))
    apart = f", {number(beside)} {word}" if (beside := memory.counts.get(name)) else ""
    estimated = about(measure, memory.shares)
    return f"{estimated}{number(part)} {'of' if measure.is_share else '÷'} {number(whole)}{apart}"


def behind(memory: HealthAnswers, scope: Scope) -> None:
    """What the column Before holds, and how each measure is formed and mended; as text, which no window cuts off."""
    st.caption(
        f"Before: for sessions, blocks and the log, {window_before(scope.days)}; for what is stored, how it stood when "
        "this window began, of what is active today. pt are percentage points; ≈, unclear: too few to tell it from "
        "chance (95 %). Vectors, near-duplicates, drops and passes are known of the present only. Weights and reads "
        f"are not compared where more than {100 * UNKNOWN:.0f} % of their past is unknown."
    )
    if any(memory.counts.get(name) for name, _ in APART.values()):
        st.caption(
            "Unbalanced: of the retrievals logged incompletely, those whose rank changes do not add up to zero, as "
            "those of a permutation must. No number: observations whose weight is not a number; they are in no share "
            "of weights."
        )
    st.caption(glossary.FOUR_OF_THE_LOG)
    with st.expander("How each measure is formed, and what to do about it"):
        told = (f"- **{each.measure.label}**: {each.measure.formula}. {each.measure.todo}" for each in memory.compared)
        st.markdown("\n".join(told))


def organizations(memory: HealthAnswers, scope: Scope) -> None:
    """Where each organization stands, the most urgent first as on top; its button moves the scope there."""
    if scope.org is not None or len(memory.by_org) < 2:  # noqa: PLR2004 - one is what the checks already show
        return
    listed = standings(memory)
    grid(
        pd.DataFrame(
            {
                "organization": [each.name for each in listed],
                "open": "Open",
                "worse": [
                    ", ".join(f"{own.measure.label} {passage(own)}" for own in each.worse) or MISSING for each in listed
                ],
                "act": [_labels(each.banded["red"]) for each in listed],
                "watch": [_labels(each.banded["watch"]) for each in listed],
                "id": [each.org for each in listed],
            }
        ),
        hide_index=True,
        key="organizations",
        row_height=WRAPPED,
        column_config={
            "organization": st.column_config.TextColumn("Organization", width=132, pinned=True),
            "open": enter_column([each.org for each in listed]),
            "worse": st.column_config.TextColumn("▼ Worse than before", width=205, help=glossary.AMONG_MANY),
            "act": st.column_config.TextColumn("✕ Act on", width=150),
            "watch": st.column_config.TextColumn("◆ Watch", width=200),
            "id": st.column_config.TextColumn("Id", width=90),
        },
    )
    st.caption(glossary.AMONG_MANY)


def _labels(judged: list[Judged]) -> str:
    return ", ".join(each.check.label for each in judged) or MISSING
