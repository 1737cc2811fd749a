"""Drift Alerts' sliders and filters. The address is the state; silence is the documented default."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import streamlit as st

from analysis.alerts import OPEN, AlertFilter, State
from analysis.drift_search import STEPS
from controls import glossary
from controls.address import said, say
from queries.scope import is_storable
from ranking.contradictions import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streamlit.delta_generator import DeltaGenerator

THRESHOLD, SEVEREST = 0.5, 100
STEP = 0.05
STATES: tuple[State, ...] = get_args(State)
KINDS = tuple(kind.value for kind in Kind)
NAMES = ("t", "sev", "kind", "agent", "state")
LONGEST, AGENTS = 200, 200
NO_AGENT = ""


def choose(agents: Iterable[str]) -> tuple[AlertFilter, DeltaGenerator]:
    """Draw the filters beside the picture, and return what the address says, and the place below the threshold."""
    st.session_state["pick_t"], st.session_state["pick_sev"] = threshold(), _severity()
    st.slider(
        "Threshold", STEPS[0], STEPS[-1], step=STEP, key="pick_t", on_change=_picked, args=("t",), format="%.2f",
        help=glossary.DRIFT_THRESHOLD,
    )  # fmt: skip
    below = st.container()
    st.slider(
        "Least severity",
        0,
        SEVEREST,
        step=5,
        key="pick_sev",
        on_change=_picked,
        args=("sev",),
        help=glossary.LEAST_SEVERITY,
    )
    _several("state", "State", STATES, list(OPEN))
    _several("kind", "Kind", KINDS, [])
    _agent(sorted(set(agents))[:AGENTS])
    st.button(
        "Reset to defaults", key="reset_drift", on_click=lambda: say(**dict.fromkeys(NAMES)), width="stretch",
        icon=":material/restart_alt:", disabled=not any(map(said, NAMES)),
    )  # fmt: skip
    return wanted(), below


def wanted() -> AlertFilter:
    """What the address asks for."""
    states, kinds, agent = _chosen("state", STATES), _chosen("kind", KINDS), _named("agent")
    return AlertFilter(
        threshold(),
        float(_severity()),
        frozenset(map(Kind, kinds)) if kinds else None,
        None if agent is None else frozenset({agent}),
        frozenset(states) if states else frozenset(OPEN),  # type: ignore[arg-type]
    )


def threshold() -> float:
    """The threshold of the address, if the slider has it."""
    try:
        value = round(float(said("t") or THRESHOLD), 2)
    except ValueError:
        return THRESHOLD
    return value if value in STEPS else THRESHOLD


def _severity() -> int:
    value = said("sev") or ""
    number = int(value) if value.isascii() and value.isdigit() and len(value) <= len(str(SEVEREST)) else 0
    return number if number <= SEVEREST else 0


def _chosen(name: str, known: Sequence[str]) -> list[str]:
    named = (said(name) or "").replace("_", " ").split(",")
    return [value for value in known if value in named]


def _named(name: str) -> str | None:
    value = said(name)
    return value if value is not None and is_storable(value) and len(value) <= LONGEST else None


def _several(name: str, label: str, options: Sequence[str], default: list[str]) -> None:
    st.session_state[f"pick_{name}"] = _chosen(name, options) or default
    st.multiselect(
        label,
        options,
        key=f"pick_{name}",
        on_change=_picked_several,
        args=(name, default),
        placeholder="Any",
        wrap=True,
    )


def _agent(agents: list[str]) -> None:
    named = _named("agent")
    listed = [NO_AGENT, *agents] if named is None or named in agents else [NO_AGENT, named, *agents]
    st.session_state["pick_agent"] = named or NO_AGENT
    st.selectbox(
        "Agent", listed, format_func=lambda value: value or "Any agent", key="pick_agent", on_change=_picked,
        args=("agent",), help=glossary.EITHER_AGENT,
    )  # fmt: skip


def _picked(name: str) -> None:
    value = st.session_state[f"pick_{name}"]
    silent = value == {"t": THRESHOLD, "sev": 0}.get(name, NO_AGENT) or value is None
    text = f"{value:g}" if isinstance(value, float) else str(value)
    say(**{name: None if silent or not is_storable(text) else text, "page": None})


def _picked_several(name: str, default: list[str]) -> None:
    values = list(st.session_state[f"pick_{name}"])
    silent = not values or set(values) == set(default)
    say(**{name: None if silent else ",".join(values).replace(" ", "_"), "page": None})
