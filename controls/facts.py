"""Facts by name, as text, in two columns beside each other where there is room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from controls.messages import MISSING

if TYPE_CHECKING:
    from collections.abc import Mapping


def in_two_columns(what: str, facts: Mapping[str, Any], width: int) -> None:
    """The first half on the left; ``what`` a name stands for heads its column, and what is missing is a dash."""
    rows = [(name, MISSING if value is None or pd.isna(value) else str(value)) for name, value in facts.items()]
    half = (len(rows) + 1) // 2
    with st.container(key=f"facts_{what}"):  # one below the other where a window is narrow: beyond_theme.css
        columns = st.columns(2)
    for column, part in zip(columns, (rows[:half], rows[half:]), strict=True):
        column.dataframe(
            pd.DataFrame(part, columns=[what, "value"]),
            hide_index=True,
            height="content",
            column_config={what: st.column_config.TextColumn(what.capitalize(), width=width), "value": "Value"},
        )
