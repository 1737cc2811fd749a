"""Go or no-go: what a boost that is off would have done, or one that is on did, and whether that is good."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.corroboration.shadow import REPLAYED, Shadow, gates, verdict
from controls import working
from controls.corroboration.agreement import documented
from controls.corroboration.gates import failure, measured
from controls.corroboration.pictures import SHOWN, VERDICT, ask_verdict, close_verdict
from controls.glossary import corroboration as glossary
from controls.grid import grid
from controls.messages import counted, number, percent
from controls.scope import days_holding, look_at_last, scope_address
from ranking.corroboration import SCALE
from retrieval.pipelines import BOOST_ON

if TYPE_CHECKING:
    from analysis.corroboration.clustered import Clustered
    from analysis.corroboration.shadow import Before, Gate
    from queries.scope import Scope

EXPLAINED = {
    False: "The window's retrievals are ranked again with the boost as it would be live: within 3 bits, scale 0.1, "
    "members counted, among what existed at each retrieval. The sliders do not change it.",
    True: "The boost is on for this organization. The window's retrievals are ranked again without the boost that they "
    "were logged with, which is what switching it off would undo. The sliders do not change it.",
}
NEVER = (
    "The boost is on, but no replayed retrieval was made with it: it was switched on since, the platform has not taken "
    "notice, or this store does not log it. What it does is unknown until such retrievals are logged."
)
EARLIER = (
    "before anything in this window was retrieved, and no replayed retrieval was made with it: the platform has not "
    "taken notice, or this store does not log it. What it does is unknown until such retrievals are logged."
)
BEFORE = (
    "The boost is on for this organization. The window's retrievals until it was switched on are ranked again with the "
    "boost as it is live: within 3 bits, scale 0.1, members counted, among what existed at each retrieval. The sliders "
    "do not change it."
)
OVER = "This window ends before that"
WEEK = 7


def decision(seen: Clustered, scope: Scope) -> None:
    """The verdict where it is asked for, else the way to it: above the sweep, which it does not depend on."""
    if SHOWN.value != VERDICT:
        st.button(
            "Should the boost be on? Go or no-go", key="ask_verdict", icon=":material/rule:", on_click=ask_verdict
        )
        return
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.subheader("Go or no-go")
        st.button("Close", key="close_verdict", type="tertiary", icon=":material/close:", on_click=close_verdict)
    _panel(documented(seen, scope), scope)


def _panel(live: Clustered, scope: Scope) -> None:
    """The verdict first, then the gates; ``live`` are the clusters that are live, at 3 bits."""
    told = working.wait(
        "corroboration_shadow", {"disputed": _disputed(live)}, scope, words="Replaying the log with the boost"
    )
    if told is None:
        return
    found = Shadow.from_json(told)
    if not found.logged:
        nothing = "No retrieval was logged in this window: the effect is unknown."
        since = "" if found.before is None else f" The boost was switched on {_at(found.before)}."
        st.info(f"{nothing}{since}", icon=":material/search_off:")
    elif found.on and not found.under:
        _foretold(found, scope)
    else:
        passed = gates(found)
        if found.before is not None and found.before.told is not None:
            _say_before(found.before, found.before.told, _made_with_it(found.before, found.before.told, found, scope))
        if found.on:
            _say_on(passed)
        else:
            _say(verdict(passed), passed)
        _effect(found)
        _table(passed, on=found.on)
    is_foretold = found.before is not None and found.before.told is not None and not found.under
    st.caption(BEFORE if is_foretold else EXPLAINED[found.on])
    _ways_on(scope, found)


def _at(before: Before) -> str:
    """When the boost was switched on."""
    return f"{datetime.fromisoformat(before.switched_at):%-d %b %Y %H:%M} UTC"


def _foretold(found: Shadow, scope: Scope) -> None:
    """A boost that is on and that no retrieval was made with: what was known when it was switched on still stands."""
    if found.before is None:
        st.info(NEVER, icon=":material/search_off:")
        return
    told = found.before.told
    if told is None:
        st.info(f"The boost was switched on {_at(found.before)}, {EARLIER}", icon=":material/search_off:")
        return
    later = found.logged - told.logged
    since = f"{counted(later, 'retrieval')} since, none made with it" if later else "Nothing was retrieved since"
    _say_before(
        found.before,
        told,
        f"{OVER}." if _is_over(found.before, scope) else f"{since}: what it really does is not known yet.",
    )
    _effect(told)
    _table(gates(told))


def _is_over(before: Before, scope: Scope) -> bool:
    """Whether the window ended before the boost was switched on."""
    return datetime.fromisoformat(before.switched_at) >= scope.until


def _made_with_it(before: Before, told: Shadow, found: Shadow, scope: Scope) -> str:
    """How many of those that the gates judge were made since the change, and how many when it was on before that."""
    since, earlier = found.under - told.under, told.under
    if not earlier:
        return f"Since then {counted(since, 'retrieval')} made with it can be judged:"
    nothing = OVER if _is_over(before, scope) else "None made with it since"
    later, too = (f"{counted(since, 'retrieval')} made with it since", ", too") if since else (nothing, "")
    return f"{later}; {counted(earlier, 'retrieval')} made when it was on before can be judged{too}:"


def _say_before(before: Before, told: Shadow, since: str) -> None:
    """The verdict on the retrievals until the change, with what is known of those since."""
    passed = gates(told)
    of = f"on the {counted(told.logged, 'retrieval')} before it was switched on ({_at(before)})"
    failed = "; ".join(failure(gate) for gate in passed if gate.holds is False)
    unknown = "; ".join(gate.name for gate in passed if gate.holds is None)
    if failed:
        st.error(f"No-go {of}. Failed gates: {failed}. {since}", icon=":material/block:")
    elif unknown:
        st.warning(f"Not decided {of}; unknown: {unknown}. {since}", icon=":material/hourglass_empty:")
    else:
        st.success(f"Go {of}: every gate held. {since}", icon=":material/check_circle:")


def _effect(found: Shadow) -> None:
    """What changed, over the retrievals that the gates judge; and what the replay had to leave out."""
    lost = "".join(f" {number(count)} not replayed: {words}." for words, count in found.reasons)
    replayed = f"{number(found.retrievals)} of {counted(found.logged, 'logged retrieval')} replayed"
    order, top = percent(found.changed, found.judged), percent(found.top_changed, found.judged)
    lifted = counted(found.boosted, "candidate")
    if not found.on:
        st.caption(
            f"{replayed}.{lost} The boost would have changed the order of {order}, the top 5 of {top}, and lifted "
            f"{lifted}."
        )
        return
    st.caption(
        f"{replayed}, {number(found.under)} of them made with the boost.{lost} Of those it changed the order of "
        f"{order} and the top 5 of {top}, and lifted {lifted}. Without it {counted(found.left, 'observation')} would "
        f"leave a memory block, and {number(found.entered)} that it kept out would be given instead."
    )


def _disputed(live: Clustered) -> list[str] | None:
    """The observations of disputed clusters; None while nobody knows."""
    if live.disputed is None:
        return None
    return [
        live.agreement.ids[row]
        for row, number_ in enumerate(live.clusters.cluster.tolist())
        if number_ >= 0 and live.disputed[number_]
    ]


def _say(go: bool | None, passed: tuple[Gate, ...]) -> None:  # noqa: FBT001 - the verdict itself
    if go:
        st.success("Go: every gate holds.", icon=":material/check_circle:")
        return
    failed = "; ".join(failure(gate) for gate in passed if gate.holds is False)
    unknown = "; ".join(gate.name for gate in passed if gate.holds is None)
    if go is False:
        more = f" Still unknown: {unknown}." if unknown else ""
        st.error(f"No-go. Failed gates: {failed}.{more}", icon=":material/block:")
    else:
        st.warning(f"Not decided yet; still unknown: {unknown}.", icon=":material/hourglass_empty:")


def _say_on(passed: tuple[Gate, ...]) -> None:
    """The same gates for a boost at work, of which too few retrievals say nothing either way."""
    few = any(gate.name == REPLAYED and not gate.holds for gate in passed)
    failed = "; ".join(failure(gate) for gate in passed if gate.holds is False and gate.name != REPLAYED)
    open_ = "; ".join(gate.name for gate in passed if gate.holds is None or (few and gate.name == REPLAYED))
    if failed and not few:
        st.error(
            f"Look again. Failed gates: {failed}. It would not be switched on today."
            + (f" Not decided: {open_}." if open_ else ""),
            icon=":material/block:",
        )
    elif open_:
        so_far = f" On so few these gates fail: {failed}." if failed else ""
        st.warning(f"Not decided yet; too little is known of: {open_}.{so_far}", icon=":material/hourglass_empty:")
    else:
        st.success("Keep it on: every gate holds.", icon=":material/check_circle:")


def _table(passed: tuple[Gate, ...], *, on: bool = False) -> None:
    """Each gate with its limit; of a boost that is ``on`` too few retrievals fail nothing."""
    signs = {True: "✓ holds", False: "✕ fails", None: "— unknown"}
    grid(
        pd.DataFrame(
            {
                "gate": [gate.name[:1].upper() + gate.name[1:] for gate in passed],
                "measured": [measured(gate.name, gate.value) for gate in passed],
                "limit": [f"{'≥' if gate.at_least else '≤'} {measured(gate.name, gate.limit)}" for gate in passed],
                "holds": [
                    "— too few" if on and gate.name == REPLAYED and not gate.holds else signs[gate.holds]
                    for gate in passed
                ],
            }
        ),
        hide_index=True,
        key="gates",
        column_config={
            "gate": st.column_config.TextColumn("Gate", width=235),
            "measured": st.column_config.TextColumn("Measured", width=90),
            "limit": st.column_config.TextColumn("Published limit", width=125, help=glossary.GATE_LIMITS),
            "holds": st.column_config.TextColumn("Verdict", width=95),
        },
    )


def flag_address(scope: Scope, new: str) -> dict[str, str]:
    """Feature flags with the change filled in and previewed on about the same days."""
    days = "7d" if scope.days <= WEEK else "30d"
    window = {name: value for name, value in scope_address().items() if name in ("org", "window") and value != "custom"}
    return window | {"flag": BOOST_ON, "state": new, "days": days}


def _ways_on(scope: Scope, found: Shadow) -> None:
    """The flag change that would end this state, the one that began it, and where other scales are tried."""
    on = found.on
    with st.container(horizontal=True):
        if found.before is not None:
            st.page_link(
                "feature_flags.py",
                label=f"Who switched it on, and why: change {number(found.before.change)}",
                icon=":material/history:",
                query_params=scope_address() | {"change": str(found.before.change)},
            )
            _longer(found.before)
        st.page_link(
            "feature_flags.py",
            label="Open the flag change to off with its preview" if on else "Open this flag change with its preview",
            icon=":material/flag:",
            query_params=flag_address(scope, "off" if on else "on"),
        )
        st.page_link(
            "what_if.py",
            label="Try other scales in What-if",
            icon=":material/tune:",
            query_params=scope_address() | {"boost": "0" if on else f"{SCALE:g}"},
        )


def _longer(before: Before) -> None:
    """The window up to today that holds retrievals from before the change, where this one has none of them."""
    days = None if before.last is None else days_holding(datetime.fromisoformat(before.last))
    if days is not None:
        st.button(
            f"Judge the last {days} days, with retrievals from before it", key="longer_window", type="tertiary",
            icon=":material/date_range:", on_click=look_at_last, args=(days,),
        )  # fmt: skip
