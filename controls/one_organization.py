"""The way into one organization, for a page that was opened for all of them and can answer for one only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from controls.loading import load
from controls.messages import MISSING, number
from controls.scope import enter
from queries.organizations import SHOWN, Organizations
from queries.scope import marked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from queries.scope import Scope

MANY = 12  # organizations that buttons can still offer
WIDTH, NAME = 150, 280  # pixels of what stands beside a name and of the name, in a line in a window of 900


@dataclass(frozen=True)
class Beside:
    """What stands beside an organization's name, those to be offered first, and what it means, in words of our own."""

    told: Mapping[str, str]
    first: Sequence[str]
    explained: str


def offer(scope: Scope, reason: str, beside: Beside | None = None) -> None:
    """Say why one is needed, and offer the first by name; a name is tenant text, and a button's label is Markdown.

    Or the first by what stands beside, then the others by name.
    """
    st.info(f"{reason} Choose one here or in the sidebar.", icon=":material/apartment:")
    first = () if beside is None else tuple(beside.first[:MANY])
    found = load(Organizations(scope, also=first)).frames[0]
    if beside is not None:
        places = {org: place for place, org in enumerate(beside.first)}
        found = found.sort_values("id", key=lambda ids: ids.map(places).fillna(len(places)), kind="stable")
        st.caption(beside.explained)
    for place, (org, name) in enumerate(found[["id", "name"]].head(MANY).itertuples(index=False)):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Choose", key=f"enter_{place}", on_click=enter, args=(org,))
            st.text(marked(name), width="content" if beside is None else NAME)
            if beside is not None:
                st.text(beside.told.get(org, MISSING), width=WIDTH)
    if len(found) > MANY:
        by = "by name" if beside is None else "in this order"
        if len(found) < SHOWN:
            st.caption(f"The first {MANY} of {number(len(found))} {by}; the sidebar's list has them all.")
        else:
            st.caption(f"The first {MANY} {by}; the sidebar's list has the first {number(SHOWN)} by name.")
