"""What every list of retrievals of Feedback Impact begins with, and what a click on it opens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from controls.address import said, say
from controls.links import clicked

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

WHEN = "D MMM YYYY, HH:mm"


def first_cells(rows: pd.DataFrame) -> dict[str, Any]:
    """The button and the moment of each retrieval; that of the opened one says so."""
    opened = said("retrieval")
    return {
        "open": ["Opened" if retrieval == opened else "Open" for retrieval in rows["retrieval"]],
        "at": rows["at"],
    }


def first_columns(key: str, rows: pd.DataFrame) -> dict[str, Any]:
    """How these two are shown; ``key`` names the table's clicks."""
    return {
        "open": st.column_config.ButtonColumn(
            "", width="small", type="tertiary", key=key, on_click=_open, args=(key, tuple(rows["retrieval"]))
        ),
        "at": st.column_config.DatetimeColumn("When (UTC)", format=WHEN, timezone="UTC", width=140),
    }


def _open(key: str, retrievals: Sequence[str]) -> None:
    if (retrieval := clicked(key, retrievals)) is not None:
        open_below(retrieval)


def open_below(retrieval: str) -> None:
    """Open a retrieval on this page."""
    say(retrieval=retrieval)
