"""The other alerts of an opened alert's dispute: where each stands, and the way to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from controls.drift.worklist import conflict, state_of, step_to, take
from controls.messages import counted, number
from reports.disputes import Disputes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.drift.alerts import Listed
    from controls.drift.gathering import Drift

FEW = 5  # that are named; a dispute of more is read in the list
SHORT = 110  # pixels of a state


def of(found: Drift, one: Listed) -> tuple[Listed, ...]:
    """Alerts that share an observation with it, or with one that does; filtered out or not, the most harmful first."""
    disputes = Disputes()
    for each in found.every:
        disputes.add("", each.older.id, each.newer.id)
    others = (each for each in found.every if each.fingerprint != one.fingerprint)
    mine = (each for each in others if disputes.same("", each.older.id, one.older.id))
    return tuple(sorted(mine, key=lambda each: (-each.harm, each.fingerprint)))


def told(found: Drift, others: Sequence[Listed]) -> None:
    """Before the decisions, that there are others and where they stand: two of one dispute are hardly judged apart."""
    if others:
        states = [state_of(each, found) for each in others]
        each_state = ", ".join(f"{_times(states.count(state))}{state}" for state in dict.fromkeys(states))
        st.text(f"{counted(len(others), 'other alert')} of this dispute, below: {each_state}.")


def _times(count: int) -> str:
    return "" if count == 1 else f"{number(count)} × "


def ways_to(found: Drift, others: Sequence[Listed]) -> None:
    """A button for each of the most harmful; their words are tenant text, which no label can hold."""
    if not others:
        return
    more = f", the {FEW} most harmful of {number(len(others))}" if len(others) > FEW else ""
    st.caption(f"Also of this dispute{more}: alerts that share an observation with this one, or with each other.")
    for each in others[:FEW]:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            key = f"to_sibling_{each.fingerprint}"
            st.button("Open", key=key, on_click=take, args=(step_to(found, each),))
            st.text(state_of(each, found), width=SHORT + 40)
            st.text(f"{conflict(each)} · harm {each.harm:.3g}")
