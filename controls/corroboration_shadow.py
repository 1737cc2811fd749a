"""Shadow mode: what a boost that is off would have done, whether that is good enough, and the way to switch it on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.corroboration_shadow import Shadow, gates, verdict
from controls import working
from controls.messages import MISSING, counted, number, percent
from controls.scope import scope_address
from retrieval.pipelines import BOOST_ON

if TYPE_CHECKING:
    from analysis.corroboration_shadow import Gate
    from analysis.corroboration_view import View
    from queries.scope import Scope

EXPLAINED = (
    "The window's retrievals are ranked again with the boost as it would be live: within 3 bits, scale 0.1, members "
    "counted, among what existed at each retrieval. The sliders do not change it."
)
SHARES = ("top 5 kept", "self-repetition among the boosted", "disputed among the boosted")
WEEK = 7


def panel(documented: View, scope: Scope) -> None:
    """The gates and their verdict; ``documented`` are the clusters that are live, at 3 bits."""
    st.caption(EXPLAINED)
    told = working.wait(
        "corroboration_shadow", {"disputed": _disputed(documented)}, scope, words="Replaying the log with the boost"
    )
    if told is None:
        return
    found = Shadow.from_json(told)
    if found.on:
        st.info(
            "The boost is on for this organization: nothing is left in the shadow. What-if shows other scales, Feature "
            "flags what switching it off would do.",
            icon=":material/toggle_on:",
        )
        return
    if not found.logged:
        st.info("No retrieval was logged in this window: the effect is unknown.", icon=":material/search_off:")
        return
    lost = "".join(f" {number(count)} not replayed: {words}." for words, count in found.reasons)
    st.caption(
        f"{number(found.retrievals)} of {counted(found.logged, 'logged retrieval')} replayed.{lost} The boost would "
        f"have changed the order of {percent(found.changed, found.retrievals)}, the top 5 of "
        f"{percent(found.top_changed, found.retrievals)}, and lifted {counted(found.boosted, 'candidate')}."
    )
    passed = gates(found)
    _say(verdict(passed), passed)
    _table(passed)
    _way_on(scope)


def _disputed(documented: View) -> list[str] | None:
    """The observations of disputed clusters; None while nobody knows."""
    if documented.disputed is None:
        return None
    held = documented.clusters.cluster
    return [
        documented.agreement.ids[row]
        for row, number_ in enumerate(held.tolist())
        if number_ >= 0 and documented.disputed[number_]
    ]


def _say(go: bool | None, passed: tuple[Gate, ...]) -> None:  # noqa: FBT001 - the verdict itself
    if go:
        st.success("Go: every gate holds.", icon=":material/check_circle:")
        return
    failed = "; ".join(gate.name for gate in passed if gate.holds is False)
    unknown = "; ".join(gate.name for gate in passed if gate.holds is None)
    if go is False:
        st.error(f"No-go: {failed}." + (f" Unknown: {unknown}." if unknown else ""), icon=":material/block:")
    else:
        st.warning(f"Not decided yet, unknown: {unknown}.", icon=":material/hourglass_empty:")


def _table(passed: tuple[Gate, ...]) -> None:
    signs = {True: "✓ holds", False: "✕ fails", None: "— unknown"}
    st.dataframe(
        pd.DataFrame(
            {
                "gate": [gate.name[:1].upper() + gate.name[1:] for gate in passed],
                "measured": [_told(gate.name, gate.value) for gate in passed],
                "limit": [f"{'≥' if gate.at_least else '≤'} {_told(gate.name, gate.limit)}" for gate in passed],
                "holds": [signs[gate.holds] for gate in passed],
            }
        ),
        hide_index=True,
        key="gates",
        column_config={
            "gate": st.column_config.TextColumn("Gate", width=280),
            "measured": st.column_config.TextColumn("Measured", width=110),
            "limit": st.column_config.TextColumn("Published limit", width=120),
            "holds": st.column_config.TextColumn("Verdict", width=100),
        },
    )


def _told(name: str, value: float | None) -> str:
    if value is None:
        return MISSING
    return f"{100 * value:.3g} %" if name in SHARES else f"{value:,.3g}" if value < 1_000 else number(value)  # noqa: PLR2004 - three digits


def flag_address(scope: Scope) -> dict[str, str]:
    """Feature flags with the change filled in and previewed on about the same days."""
    days = "7d" if scope.days <= WEEK else "30d"
    window = {name: value for name, value in scope_address().items() if name in ("org", "window") and value != "custom"}
    return window | {"flag": BOOST_ON, "to": "on", "days": days}


def _way_on(scope: Scope) -> None:
    st.page_link(
        "feature_flags.py",
        label="Open this flag change with its preview",
        icon=":material/flag:",
        query_params=flag_address(scope),
    )
