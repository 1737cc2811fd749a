"""A page that says one word: what a rerun costs before a page does anything."""

import streamlit as st

st.text("blank")
