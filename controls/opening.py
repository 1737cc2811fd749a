"""A way to open any row of a table without a mouse: no key presses a button in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from queries.scope import isolated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LONGEST = 80  # characters of a label
WIDTH = 320  # pixels


def choose_to_open(
    key: str, what: str, labels: Mapping[str, str], opened: Callable[[str], None], *, width: int = WIDTH
) -> None:
    """A list of what a table holds, by id and in its order; who types or picks one of them opens it."""
    if not labels:
        return
    st.selectbox(
        f"Open {what}",
        labels,
        index=None,
        format_func=lambda id_: _label(labels[id_]),
        key=key,
        placeholder=f"Open {what} by name",
        on_change=_picked,
        args=(key, opened),
        label_visibility="collapsed",
        width=width,
    )


def _picked(key: str, opened: Callable[[str], None]) -> None:
    if (picked := st.session_state[key]) is not None:
        st.session_state[key] = None  # what is open stands in the address, and may be opened again
        opened(picked)


def _label(text: str) -> str:
    line = " ".join(text.split())
    return isolated(line if len(line) <= LONGEST else f"{line[:LONGEST]}…")
