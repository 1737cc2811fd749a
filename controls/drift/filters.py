"""Drift Alerts' sliders and filters. The address is the state; silence is the documented default."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, get_args

import streamlit as st

from analysis.drift.alerts import OPEN, AlertFilter, State
from analysis.drift.search import STEPS
from controls import glossary
from controls.address import not_understood, said, say, unknown
from controls.drift import messages
from controls.saved_views import PASSING
from controls.scope import NAMES as SCOPE
from queries.scope import is_storable, marked
from ranking.contradictions import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.drift.search import Searched

THRESHOLD, SEVEREST = 0.5, 100
STEP = 0.05
STATES: tuple[State, ...] = get_args(State)
KINDS = tuple(kind.value for kind in Kind)
NAMES = ("t", "sev", "kind", "agent", "state", "since")
MISNAMED = "threshold"  # as someone writes it who types a link: its name here is `t`
LONGEST, AGENTS = 200, 200
LONGEST_PAGE = 4  # digits
FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(2199, 12, 31)
FINGERPRINT = 64  # characters at most, twice those of one


def choose(searched: Searched) -> AlertFilter:
    """Draw the filters in a row above the list, on more lines where it is narrow, and return what the address says."""
    st.session_state["pick_t"], st.session_state["pick_sev"] = threshold(), _severity() or 0
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        st.slider(
            "Threshold", STEPS[0], STEPS[-1], step=STEP, key="pick_t", on_change=_picked, args=("t",), format="%.2f",
            width=170, help=glossary.DRIFT_THRESHOLD,
        )  # fmt: skip
        st.slider(
            "Minimum severity", 0, SEVEREST, step=5, key="pick_sev", on_change=_picked, args=("sev",),
            width=170, help=glossary.LEAST_SEVERITY,
        )  # fmt: skip
        _several("state", "State", STATES, list(OPEN))
        _several("kind", "Kind", KINDS, [], width=190)
        _agents(sorted(searched.agents)[:AGENTS])
        st.session_state["pick_since"] = since()
        st.date_input(
            "Arose on or after", None, FIRST_DAY, LAST_DAY, key="pick_since", on_change=_picked, args=("since",),
            format="YYYY-MM-DD", width=150, help=glossary.AROSE_SINCE,
        )  # fmt: skip
        st.button(
            "Reset to defaults", key="reset_drift", on_click=lambda: say(**dict.fromkeys((*NAMES, "page"))),
            icon=":material/restart_alt:", disabled=not any(map(said, NAMES)),
        )  # fmt: skip
    if searched.steps == STEPS:
        messages.at_thresholds(searched.totals, STEPS[0], STEPS[-1])
    return wanted()


def wanted() -> AlertFilter:
    """What the address asks for."""
    states, kinds, agents, first = _chosen("state", STATES), _chosen("kind", KINDS), _named_agents(), since()
    return AlertFilter(
        threshold(),
        float(_severity() or 0),
        frozenset(map(Kind, kinds)) if kinds else None,
        frozenset(agents) if agents else None,
        frozenset(states) if states else frozenset(OPEN),  # type: ignore[arg-type]
        None if first is None else datetime(first.year, first.month, first.day, tzinfo=UTC),
    )


def ignored() -> list[str]:
    """What the address says about this page and cannot be, by the names of the controls."""
    read = not_understood(
        {
            "t": ("Threshold", _step()),
            MISNAMED: ("Threshold", None),
            "sev": ("Minimum severity", _severity()),
            "state": ("State", _chosen("state", STATES)),
            "kind": ("Kind", _chosen("kind", KINDS)),
            "agent": ("Agent", _named_agents()),
            "since": ("Arose on or after", since()),
            "page": ("Page", page()),
            "alert": ("Opened alert", opened()),
        }
    )
    return [*dict.fromkeys(read), *unknown((*SCOPE, *NAMES, MISNAMED, "page", "alert", *PASSING))]


def threshold() -> float:
    """The threshold of the address, if the slider has it."""
    return _step() or THRESHOLD


def since() -> date | None:
    """The day of the address from which on an alert arose."""
    try:
        day = date.fromisoformat(said("since") or "")
    except ValueError:
        return None
    return day if FIRST_DAY <= day <= LAST_DAY else None


def page() -> int | None:
    """The page of the list that the address names, from 1."""
    value = said("page") or ""
    return int(value) or None if value.isascii() and value.isdigit() and len(value) <= LONGEST_PAGE else None


def opened() -> str | None:
    """The fingerprint in the address."""
    name = said("alert")
    return name if name is not None and name.isascii() and name.isalnum() and len(name) <= FINGERPRINT else None


def _step() -> float | None:
    try:
        value = round(float(said("t") or ""), 2)
    except ValueError:
        return None
    return value if value in STEPS else None


def _severity() -> int | None:
    value = said("sev") or ""
    number = int(value) if value.isascii() and value.isdigit() and len(value) <= len(str(SEVEREST)) else SEVEREST + 1
    return number if number <= SEVEREST else None


def _chosen(name: str, known: Sequence[str]) -> list[str] | None:
    """The values of a list in the address, in our order; None if there is none or one of them is unknown."""
    named = set((said(name) or "").replace("_", " ").split(","))
    return [value for value in known if value in named] if named <= set(known) else None


def _named_agents() -> list[str] | None:
    """Agents in the address, each a parameter of its own: their names may hold any character."""
    named = list(dict.fromkeys(filter(None, st.query_params.get_all("agent"))))[:AGENTS]
    sound = all(is_storable(name) and len(name) <= LONGEST for name in named)
    return named if named and sound else None


def _several(name: str, label: str, options: Sequence[str], default: list[str], *, width: int = 340) -> None:
    st.session_state[f"pick_{name}"] = _chosen(name, options) or default
    st.multiselect(
        label,
        options,
        key=f"pick_{name}",
        on_change=_picked_several,
        args=(name, default),
        placeholder="Any",
        wrap=True,
        width=width,
    )


def _agents(agents: list[str]) -> None:
    named = _named_agents() or []
    st.session_state["pick_agent"] = named
    st.multiselect(
        "Agent", [*(name for name in named if name not in agents), *agents], format_func=marked, key="pick_agent",
        on_change=_picked_agents, placeholder="Any agent", wrap=True, width=190, help=glossary.EITHER_AGENT,
    )  # fmt: skip


def _picked(name: str) -> None:
    value = st.session_state[f"pick_{name}"]
    silent = value is None or value == {"t": THRESHOLD, "sev": 0}.get(name)
    text = f"{value:g}" if isinstance(value, float) else str(value)
    say(**{name: None if silent else text, "page": None})


def _picked_several(name: str, default: list[str]) -> None:
    values = list(st.session_state[f"pick_{name}"])
    silent = not values or set(values) == set(default)
    say(**{name: None if silent else ",".join(values).replace(" ", "_"), "page": None})


def _picked_agents() -> None:
    say(agent=[name for name in st.session_state["pick_agent"] if is_storable(name)], page=None)
