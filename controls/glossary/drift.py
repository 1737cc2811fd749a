"""What stands in the tooltips of an opened alert, with its own numbers."""

from __future__ import annotations

from analysis.drift import meanings

SAYS_THE_SAME = f"Says the same: {meanings.SAID_BY[0].lower()}{meanings.SAID_BY[1:]}"


def harm(severity: float, reach: float, together: float, made: float) -> str:
    """What harm is, and how this alert's came about."""
    return f"{meanings.HARM} Here: {severity:.3g} · (1 + {reach:.2f} + 2 · {together:.2f}) / 4 = {made:.3g}."
