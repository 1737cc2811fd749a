"""The words for Health's figures: a value with its unit, its bands, and its change with what that means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from analysis.health.change import SAME
from analysis.health.checks import Check
from controls.messages import MISSING, digits, number

if TYPE_CHECKING:
    import pandas as pd

    from analysis.health.change import Compared, Measure
    from analysis.health.counts import Shares

SIGNS = {"good": "● in order", "watch": "◆ watch", "red": "✕ act", "unknown": "cannot be known"}
DIP, SHORT_DIP = " against a dip", " (dip)"  # the latter where there is little room, and it is explained beside it
MEANINGS = {"worse": " worse", "better": " better", "moved": "", "chance": ", unclear"}
COLOURS: dict[str, Literal["red", "green"]] = {"worse": "red", "better": "green"}
DAY = 48  # hours up to which an age is told in hours


def shown(measure: Measure, value: float | None) -> str:
    """Three significant digits; hours become minutes below one of them and days beyond two days."""
    if value is None:
        return MISSING
    if measure.is_share:
        return f"{digits(100 * value)} %"
    if not isinstance(measure, Check):
        return digits(value)
    if measure.unit != "h":
        return f"{digits(value)} {measure.unit}".rstrip()
    return _hours(value)


def about(measure: Measure, shares: Shares) -> str:
    """The sign before an estimate."""
    return "≈ " if shares.of(measure.whole or "") < 1 else ""


def estimated(measure: Measure, value: float | None, shares: Shares) -> str:
    """A value, with the sign of an estimate where it is one."""
    return MISSING if value is None else f"{about(measure, shares)}{shown(measure, value)}"


def _hours(value: float) -> str:
    if value < 1:
        return f"{60 * value:.0f} min" if value >= 1 / 60 else "< 1 min"
    return f"{value:.3g} h" if value < DAY else f"{number(value / 24)} days"


def limits(check: Check) -> str:
    """The bands in words."""
    word, beyond = ("from", "below") if check.falling else ("up to", "above")
    watch, red = shown(check, check.watch), shown(check, check.red)
    if math.isinf(check.red):
        return f"in order at {watch}"
    if check.watch == check.best:
        return f"in order at {watch}, act {beyond} {red}"
    return f"in order {word} {watch}, act {beyond} {red}"


def passage(each: Compared) -> str:
    """From the value before to the one now, each with its count where that is too small to tell anything."""
    before, now = shown(each.measure, each.before), shown(each.measure, each.now)
    if each.of is None or not each.large:
        return f"{before} → {now}"
    return f"{before} of {number(each.of[0])} → {now} of {number(each.of[1])}"


def since(writers: pd.DataFrame) -> str:
    """From when on the log's writers have counted what they lost: each from its start, of which the first is told."""
    lost = writers["dropped"] + writers["failed"] > 0
    return f"since {writers.loc[lost, 'started_at'].min():%-d %b %Y}"


def change(each: Compared) -> str:
    """The change with its direction and what it means; where there is none, why."""
    if each.now is None:
        return MISSING
    if each.meaning == "present":
        return "present state only"
    if each.meaning == "same":
        return same(shown(each.measure, each.now), shown(each.measure, each.before))
    if each.change is None:
        return "nothing to compare"
    sign = "≈" if each.meaning == "chance" else "▲" if each.change > 0 else "▼"
    amount = points(100 * each.change) if each.measure.is_share else digits(each.change, signed=True)
    # what the sentence on top would not call worse is not called so elsewhere
    is_small = each.meaning in ("worse", "better") and not each.large
    return f"{sign} {amount}{'' if is_small else MEANINGS[each.meaning] if each.dip is None else DIP}"


def dip(each: Compared) -> str | None:
    """The days that it is better than alone, with their share and that of the others."""
    if each.dip is None:
        return None
    last, share, others = each.dip
    return f"against a dip: {share:.3g} % in the 7 days up to {last:%-d %b}, {others:.3g} % without it"


def points(change: float) -> str:
    """A change in percentage points: two digits, and none beyond a tenth, which nobody acts on."""
    return f"{change:+.1f} pt" if abs(change) < 1 else f"{digits(change, 2, signed=True)} pt"


def same(now: str, before: str) -> str:
    """Two values that are as good as one; where their digits differ, it is said how little."""
    return "= no change" if now == before else f"= under {digits(100 * SAME)} {'pt' if now.endswith('%') else '%'}"


def unclear(amount: str) -> str:
    """A change of a share of too few events to tell it from chance."""
    return f"≈ {amount}{MEANINGS['chance']}"


def colour(each: Compared) -> Literal["off", "red", "green"]:
    """The colour of a change: that of its word, and grey where it has none or is only against a dip."""
    return COLOURS.get(each.meaning, "off") if each.large and each.dip is None else "off"
