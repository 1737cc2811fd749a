"""A page of one table whose text takes more lines than a row has."""

import pandas as pd
import streamlit as st

from controls.grid import WRAPPED, grid

grid(
    pd.DataFrame({"text": ["Many a query jumps past the gateway, "[: 37 - n] * 9 for n in range(3)]}),
    hide_index=True,
    key="wrapped",
    row_height=WRAPPED,
    column_config={"text": st.column_config.TextColumn("Text", width=200)},
    width=220,
)
