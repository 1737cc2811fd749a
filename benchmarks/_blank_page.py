"""A page that says one word: what a rerun costs before a page does anything; imports are settled as in ours."""

import gc

import streamlit as st


@st.cache_resource(show_spinner=False)
def settle() -> None:
    """The same as the application does, once."""
    gc.collect()
    gc.freeze()


settle()
st.text("blank")
