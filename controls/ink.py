"""The colour of figures that stand in a picture, by the theme that is shown."""

from __future__ import annotations

import streamlit as st

INK = {"light": "#1D2B33", "dark": "#E4EAED"}


def ink() -> str:
    """The colour of figures on a weak ground; plotly's own would be too pale on a light page."""
    return INK["dark" if st.context.theme.type == "dark" else "light"]
