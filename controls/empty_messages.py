"""What a page says where there is nothing to show at all, worded once; no tenant text, as in ``messages``."""

from __future__ import annotations

import streamlit as st

from controls import store_state
from controls.view import view


def no_organizations(*, everything: bool) -> None:
    """A store without any organization, or someone who may see none of them."""
    if not everything:
        way = ": none was granted to you. An administrator does that with `python -m jobs grant`."
    elif store_state.is_embedded():
        way = ": the embedded store is empty. Stop Rankscope and start it with `make run`, which fills in a demo."
    else:
        way = (
            ": this store holds none. They appear by themselves as soon as the platform stores one. To look around "
            "meanwhile, start Rankscope without `DATABASE_URL`: it then serves a demo."
        )
    st.info(f"No organization can be seen here yet{way}", icon=":material/apartment:")


def nothing_yet(meanwhile: str) -> None:
    """An organization or project on its first day, and what can be done on this page until the second."""
    st.info(
        "Nothing was ever stored here: no observation, no session, no retrieval. Figures appear by themselves with the "
        f"first memory that an agent writes. {meanwhile}",
        icon=":material/hourglass_empty:",
    )


def nothing_retrieved() -> None:
    """A window in which no retrieval found anything that is still stored."""
    st.info("Nothing that is stored here was retrieved in this window.", icon=":material/search_off:")


def nothing_stored() -> None:
    """A scope without any active observation, which no window changes; one that never had any has been told so."""
    if store_state.holds_nothing(view().scope):
        return
    st.info(
        "No active observation is stored in this scope. Choose another project or organization.",
        icon=":material/search_off:",
    )
