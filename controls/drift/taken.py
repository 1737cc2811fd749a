"""Which report files were taken of an organization, each with the digest that tells whether it was changed since."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from controls.grid import grid
from controls.loading import ask_now
from controls.messages import left_out
from queries.errors import LACKING, StoreError
from queries.exports import TAKEN, TakenFiles
from reports.formats import FORMATS

if TYPE_CHECKING:
    from queries.scope import Scope

WHEN = "D MMM YYYY HH:mm:ss"


def files_taken(scope: Scope, kind: str) -> None:
    """The newest files of the record; a download leaves the page as it is, so a button draws it anew, role and all."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Files taken**")
        st.button("Refresh", key="files_taken_refresh", type="tertiary", icon=":material/refresh:")
    try:
        taken = ask_now(TakenFiles(scope, kind)).frames[0]
    except StoreError as error:
        if error.kind not in LACKING:
            raise
        left_out("Files taken", error)
        return
    if taken.empty:
        st.caption("No report of this organization is on record yet. One that you take stands here after *Refresh*.")
        return
    st.caption(
        f"The newest {TAKEN} reports of this organization, whoever took them, from a record that is only added to. "
        "Keep the SHA-256 of a file that you send: `sha256sum` tells whether the file is still the same. A download of "
        "now stands here after *Refresh*."
    )
    grid(
        taken.assign(format=[_in_words(form) for form in taken["format"]]),
        hide_index=True,
        key="files_taken",
        column_order=("exported_at", "actor", "format", "sha256", "file_name", "rows"),
        column_config={
            "exported_at": st.column_config.DatetimeColumn("Taken (UTC)", format=WHEN, timezone="UTC", width=150),
            "actor": st.column_config.TextColumn("By", width=90),
            "format": st.column_config.TextColumn("Format", width=115),
            "file_name": st.column_config.TextColumn("File", width=165),
            "rows": st.column_config.NumberColumn("Alerts", width=65, format="localized"),
            "sha256": st.column_config.TextColumn("SHA-256", width=445),
        },
    )


def _in_words(form: str) -> str:
    """A format as its button calls it; a name of a file is cut before it says which."""
    return FORMATS[form].label if form in FORMATS else form
