"""Every state a page can be in besides showing its figures, worded once.

No tenant text in here: these sentences go to Markdown sinks, where escaping is not enough. Streamlit makes links of
bare addresses after the escapes are gone, and icons of ``:material/…:`` even inside code spans. Tenant text goes to
``st.text``, ``st.dataframe`` and plotly, which show it literally.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from queries.errors import StoreError

MISSING = "—"


def failed(error: StoreError) -> None:
    """The store could not be asked: what is wrong and what to do, with a way to try again."""
    st.error(error.sentence, icon=":material/database_off:")
    st.button("Try again", key="try_again")


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


def number(value: float | None) -> str:
    """A count with thousands separated, or a dash where it is missing."""
    return MISSING if value is None else f"{value:,.0f}"


def percent(part: float, whole: float) -> str:
    """A share with three significant digits at most, or a dash where there is nothing to share."""
    return MISSING if not whole else f"{100 * part / whole:.3g} %"
