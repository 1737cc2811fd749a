"""Figures as they were computed, where someone asks for them; the address says so."""

from __future__ import annotations

import streamlit as st

from controls import glossary
from controls.address import said, say

DIGITS, ALL = "digits", "all"


def all_digits(key: str) -> bool:
    """Whether all digits are shown, beside or instead of the short figures; drawn as a toggle."""
    st.session_state[key] = said(DIGITS) == ALL
    return st.toggle("All digits", key=key, on_change=_toggled, args=(key,), help=glossary.ALL_DIGITS)


def _toggled(key: str) -> None:
    say(**{DIGITS: ALL if st.session_state[key] else None})
