"""A table to choose one thing from. The address holds the choice by id; a mark shows it."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from controls import address
from controls.grid import grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MARK = "▸"


def choose_one(name: str, ids: Sequence[object], rows: Mapping[str, Sequence[Any]], columns: Mapping[str, Any]) -> None:
    """Draw rows of which one can be picked; what is picked stands in the address under ``name``."""
    chosen, texts = address.said(name), tuple(map(str, ids))
    # the key names the rows: a choice by place must not outlive the list it was made in
    key = f"{name}_rows_{hashlib.sha256(repr(texts).encode()).hexdigest()[:16]}"
    follow(key, [texts.index(chosen)] if chosen in texts else [])
    marks = {"shown": [MARK if text == chosen else "" for text in texts]} if chosen in texts else {}
    grid(
        pd.DataFrame({**marks, **rows, "id": list(ids)}),
        hide_index=True,
        key=key,
        on_select=partial(_picked, key, name, texts),
        selection_mode="single-row",
        column_config={"shown": st.column_config.TextColumn("Chosen", width=65), **columns},
    )


def follow(key: str, rows: Sequence[int]) -> None:
    """Let a table that is about to be drawn show these rows as chosen, whatever was clicked in it before.

    Streamlit keeps a selection by place and knows nothing of the address: a link, a list beside the table and the
    browser's back button would leave other rows marked than those that are meant.
    """
    state: Any = st.session_state.get(key)
    if sorted(state["selection"]["rows"] if state else []) != sorted(rows):
        st.session_state[key] = {"selection": {"rows": sorted(rows), "columns": [], "cells": []}}


def _picked(key: str, name: str, ids: tuple[str, ...]) -> None:
    picked = st.session_state[key]["selection"]["rows"]
    address.say(**{name: ids[picked[0]] if picked and 0 <= picked[0] < len(ids) else None})
