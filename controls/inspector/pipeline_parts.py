"""Which parts of the pipeline panel are open. The address says so once someone opened or closed one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from controls import address

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streamlit.delta_generator import DeltaGenerator

OPEN = "open"
BETWEEN = "."
NONE = "none"


def opened(first: str, changed: Iterable[str]) -> frozenset[str]:
    """The parts that are open: those the address names, else the first and whatever differs from the preset."""
    said = address.said(OPEN)
    return frozenset({first, *changed}) if said is None else frozenset(said.split(BETWEEN))


def part(name: str, label: str, shown: frozenset[str]) -> DeltaGenerator | None:
    """One part that can be opened, and its inside as long as it is: what nobody sees is not drawn."""
    key = f"part_{name}"
    st.session_state[key] = name in shown
    inside = st.expander(label, key=key, on_change=_toggled, args=(name, shown))
    return inside if name in shown else None


def _toggled(name: str, shown: frozenset[str]) -> None:
    now = shown | {name} if st.session_state[f"part_{name}"] else shown - {name}
    address.say(**{OPEN: BETWEEN.join(sorted(now)) or NONE})
