"""What to do about whatever is not in order: a line for each, as text, which no window cuts off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Advice:
    """What needs a hand, by name and figure, what stands beside it, and what to do: our own words, read as Markdown."""

    what: str
    beside: str
    todo: str


def to_do(wanted: Sequence[Advice]) -> None:
    """A heading and a line for each, in whole sentences; nothing where nothing needs a hand."""
    if wanted:
        st.markdown("**What to do**")
    for each in wanted:
        st.markdown(f"- **{each.what}** ({each.beside}). {each.todo}")
