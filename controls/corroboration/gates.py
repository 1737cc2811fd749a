"""The gates of go or no-go in words, with what was measured and the published limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controls.messages import MISSING, digits

if TYPE_CHECKING:
    from analysis.corroboration.shadow import Gate

SHARES = ("top 5 kept", "self-repetition among the boosted", "disputed among the boosted")


def failure(gate: Gate) -> str:
    """A gate with what was measured and its limit: its name alone reads as if it held."""
    limit = f"at {'least' if gate.at_least else 'most'} {measured(gate.name, gate.limit)}"
    return f"{gate.name} ({measured(gate.name, gate.value)}, {limit})"


def measured(name: str, value: float | None) -> str:
    """A value of a gate; a share in percent."""
    if value is None:
        return MISSING
    return f"{100 * value:.3g} %" if name in SHARES else digits(value)
