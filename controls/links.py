"""Addresses of the things that pages open, each with the scope carried on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from controls.scope import scope_address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamlit.elements.lib.column_types import ButtonColumnResult, ColumnConfig

GOING = "going_to"


def observation_address(observation: str) -> dict[str, str]:
    """The query parameters of a link to the Observation page."""
    return scope_address() | {"observation": str(observation)}


def retrieval_address(retrieval: str) -> dict[str, str]:
    """The query parameters of a link to the Inspector, opened at a logged retrieval."""
    return scope_address() | {"retrieval": str(retrieval)}


def open_column(
    key: str, ids: Sequence[str], page: str, name: str, label: str = ""
) -> ButtonColumnResult | ColumnConfig:
    """A column of buttons that open a page at the row's id.

    The ids go along as they were when the row was drawn: a table that has changed meanwhile cannot lead astray.
    """
    return st.column_config.ButtonColumn(
        label, width="small", type="tertiary", key=key, on_click=_clicked, args=(key, tuple(ids), page, name)
    )


def _clicked(key: str, ids: tuple[str, ...], page: str, name: str) -> None:
    clicked = st.session_state[key]
    if clicked is not None and 0 <= clicked["row"] < len(ids):
        st.session_state[GOING] = (page, name, ids[clicked["row"]])


def follow() -> None:
    """Go where the last click led, if it led anywhere: a callback itself cannot leave its page."""
    going = st.session_state.pop(GOING, None)
    if going is None:
        return
    page, name, value = going
    st.switch_page(page, query_params=scope_address() | {name: value})
