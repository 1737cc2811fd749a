"""A way to open any row of a table without a mouse: no key presses a button in a table."""

from __future__ import annotations

from collections import Counter
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
    shown = _apart(labels)
    st.selectbox(
        f"Open {what}",
        labels,
        index=None,
        format_func=shown.__getitem__,
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


def _apart(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels by id, numbered where several are alike: a browser sends the label, and the first of them would open."""
    shown: dict[str, str] = {}
    times = Counter[str]()
    for id_, text in labels.items():
        label = _label(text)
        times[label] += 1
        shown[id_] = label if times[label] == 1 else f"{label} ({times[label]})"
    return shown


def _label(text: str) -> str:
    line = " ".join(text.split())
    return isolated(line if len(line) <= LONGEST else f"{line[:LONGEST]}…")
