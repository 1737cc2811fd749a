"""Every table of the dashboard: its texts as a tenant wrote them, with what would turn them unseen marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from queries.scope import TURNING, marked

if TYPE_CHECKING:
    import pandas as pd

# Pixels of a row that breaks texts into lines, where what is chosen by is a text and a window of 900 pixels, which
# leaves a table 544, would cut it. Lines begin 3 pixels below its top and every 18.2: four are whole, and a fifth would
# begin below its end. Under 62 pixels no text is broken, and at 62 a fourth line is cut through.
WRAPPED = 74


def grid(frame: pd.DataFrame, **options: Any) -> None:  # noqa: ANN401 - those of a table
    """Draw a table; what it was made of stays as it is, and so does what its rows open."""
    st.dataframe(visible(frame), **options)


def visible(frame: pd.DataFrame) -> pd.DataFrame:
    """The same frame, or one whose texts have marks where some are needed."""
    turned = [name for name in frame.columns if _turns(frame[name])]
    shown = frame.copy() if turned else frame
    for name in turned:
        shown[name] = frame[name].map(_marked)
    return shown


def _turns(column: pd.Series[Any]) -> bool:
    """Whether any text of a column needs a mark; joined, because a table has thousands and hardly ever one."""
    if column.dtype.kind not in "OUT":
        return False
    return TURNING.search("\n".join(value for value in column if isinstance(value, str))) is not None


def _marked(value: Any) -> Any:  # noqa: ANN401 - whatever a cell holds
    return marked(value) if isinstance(value, str) else value
