"""Health's shares by day as the chart takes them, beside the flags that were turned, also in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.health.by_day import DAILY, shares_by_day
from charts.health import TAILS
from charts.health_days import WEEK
from controls.health.steered import steered
from controls.health.words import colour, passage
from controls.messages import counted, number

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from controls.health.answers import HealthAnswers
    from queries.scope import Scope

NAMES = {"accepted": "accepted", "coverage": "log coverage"}


def lines(memory: HealthAnswers, scope: Scope) -> dict[str, tuple[str, pd.DataFrame]]:
    """Each measure that the store keeps by day, in the colour of its change; none that has no day."""
    compared = {each.measure.name: each for each in memory.compared}
    found = {name: shares_by_day(name, memory.earlier.frames, scope) for name in DAILY}
    return {NAMES[name]: (TAILS[colour(compared[name])], pd.DataFrame(days)) for name, days in found.items() if days}


def marks(memory: HealthAnswers, scope: Scope) -> list[tuple[datetime, str]]:
    """When flags were turned, and what that did."""
    found = steered(memory, scope)
    return [] if found is None else [(each.at, f"{each.at:%-d %b}: {each.effect}") for each in found.named]


def said(drawn: Mapping[str, tuple[str, pd.DataFrame]], marked: Sequence[tuple[datetime, str]]) -> str:
    """The picture as it is read out, with every mark."""
    flags = "; ".join(words for _, words in marked) or "none"
    what = _named(drawn, " and above them log coverage,")
    together = " and by seven days together" if any(len(days) >= WEEK for _, days in drawn.values()) else ""
    return f"{what} by day{together}, this window and the one before. Flags turned: {flags}"


def _named(drawn: Collection[str], both: str) -> str:
    """The measures that have a line; ``both``: the second as it is said behind the first."""
    if NAMES["accepted"] not in drawn:
        return "Log coverage"
    return f"Sessions accepted{both if NAMES['coverage'] in drawn else ''}"


def not_marked(memory: HealthAnswers, scope: Scope) -> None:
    """How many changes of flags the picture leaves out."""
    found = steered(memory, scope)
    if found is not None and found.count > len(found.named):
        changes = f"{counted(found.count, 'change')} of flags in these days"
        held = f"marked: {number(len(found.named))}, of those that held longest"
        st.caption(f"{changes}; {'marked where one organization is chosen' if scope.org is None else held}.")


def title(drawn: Collection[str], memory: HealthAnswers) -> str:
    """What the line of accepted sessions comes to in both windows."""
    accepted = next(each for each in memory.compared if each.measure.name == "accepted")
    if NAMES["accepted"] not in drawn or accepted.now is None or accepted.before is None:
        return f"{_named(drawn, ' and log coverage')} by day"
    return f"Sessions accepted {passage(accepted)}, by day"
