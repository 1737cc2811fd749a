"""What an agent wrote, letter by letter and to be copied, with a word on what cannot be seen in it."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from queries.scope import TURNING
from reports.texts import unseen

Height = int | Literal["content"]


def verbatim(text: str, *, height: Height = "content") -> None:
    """The text as it is stored; what turns its letters unseen is named below it, because a copy must hold it."""
    st.code(text, language=None, wrap_lines=True, height=height)
    if note := unseen("".join(sign for sign in TURNING.findall(text) if sign != "⟦")):
        st.caption(note)
