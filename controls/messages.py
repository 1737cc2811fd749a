"""Every state a page can be in besides showing its figures, worded once.

No tenant text in here: these sentences go to Markdown sinks, where escaping is not enough. Streamlit makes links of
bare addresses after the escapes are gone, and icons of ``:material/…:`` even inside code spans. Tenant text goes to
``st.text``, ``st.dataframe`` and plotly, which show it literally.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import streamlit as st

from controls import loading

if TYPE_CHECKING:
    from queries.errors import StoreError

MISSING = "—"
PASSING = ("unreachable", "connection", "restarting", "starting", "silent", "busy", "connections")
STOPPED = "The embedded database stopped and is being started again. Nothing was lost."
RETRY = 3.0
FAILED_AT = "failed_at"


def failed(error: StoreError) -> None:
    """The store could not be asked: what is wrong and what to do; a page that may come back does so by itself."""
    passing = error.kind in PASSING
    stopped = passing and loading.is_embedded()
    st.error(STOPPED if stopped else error.sentence, icon=":material/database_off:")
    st.button("Try again", key="try_again")
    if passing:
        st.session_state[FAILED_AT] = time.monotonic()
        _come_back()


@st.fragment(run_every=RETRY)
def _come_back() -> None:
    """Run the page again once the store answers; not at once, or a store that comes and goes would spin the page."""
    if time.monotonic() - st.session_state.get(FAILED_AT, 0.0) > RETRY / 2 and loading.answers_now():
        st.rerun()
    st.caption("This page tries again by itself.")


def not_allowed(sentence: str) -> None:
    """Whoever asks may not see this."""
    st.error(sentence, icon=":material/lock:")


def no_organizations() -> None:
    """A store without any organization, or a principal without any."""
    st.info(
        "No organization can be seen here yet. Organizations appear as soon as the platform stores one, "
        "or an administrator grants you one with `python -m jobs grant`.",
        icon=":material/apartment:",
    )


def unknown_in_link(what: str) -> None:
    """An address that names something unknown, or something that whoever asks may not see: the two look the same."""
    st.warning(
        f"{what} in this link: it does not exist here, or you may not see it. Showing all instead.",
        icon=":material/link_off:",
    )


def nothing_found(what: str) -> None:
    """A scope that holds none of what the page shows."""
    st.info(f"No {what} in this scope. Choose a longer window or another organization.", icon=":material/search_off:")


def unknown_retrieval() -> None:
    """An id that names no logged retrieval, or one that whoever asks may not see: the same words for both."""
    st.warning(
        "No such retrieval: it does not exist here, or you may not see it. Check the id, or choose one from a table.",
        icon=":material/link_off:",
    )


def number(value: float | None) -> str:
    """A count with thousands separated, or a dash where it is missing."""
    return MISSING if value is None else f"{value:,.0f}"


def counted(count: int, noun: str) -> str:
    """A count with its noun, in the plural where it needs one."""
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def percent(part: float, whole: float) -> str:
    """A share with three significant digits at most, or a dash where there is nothing to share."""
    return MISSING if not whole else f"{100 * part / whole:.3g} %"
