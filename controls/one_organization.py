"""The way into one organization, for a page that was opened for all of them and can answer for one only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from controls.loading import load
from controls.messages import number
from controls.scope import enter
from queries.organizations import Organizations
from queries.scope import marked

if TYPE_CHECKING:
    from queries.scope import Scope

MANY = 12  # organizations that buttons can still offer


def offer(scope: Scope, reason: str) -> None:
    """Say why one is needed, and offer the first by name; a name is tenant text, and a button's label is Markdown."""
    st.info(f"{reason} Choose one here or in the sidebar.", icon=":material/apartment:")
    found = load(Organizations(scope)).frames[0]
    for place, (org, name) in enumerate(found[["id", "name"]].head(MANY).itertuples(index=False)):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Choose", key=f"enter_{place}", on_click=enter, args=(org,))
            st.text(marked(name))
    if len(found) > MANY:
        st.caption(f"The first {MANY} of {number(len(found))} by name; the sidebar's list has them all.")
