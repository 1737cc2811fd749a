"""Things to open, some called alike, and which one was."""

import streamlit as st

from controls.opening import choose_to_open


def remember(id_: str) -> None:
    """Put what was opened where the test looks."""
    st.session_state["was"] = [*st.session_state.get("was", []), id_]


choose_to_open("pick", "a thing", {"a": "first\n  thing", "b": "second " * 40}, remember)
choose_to_open("alike", "one of several", {"c": "same", "d": "same ", "e": "same"}, remember)
choose_to_open("none", "nothing", {}, remember)
st.text(", ".join(st.session_state.get("was", [])))
