"""A page that says one word: what a rerun costs before a page does anything; memory is tidied as in ours."""

import streamlit as st

from controls.garbage import Collection


@st.cache_resource(show_spinner=False)
def garbage() -> Collection:
    """The same as the application's."""
    return Collection()


st.text("blank")
garbage().tidy()
