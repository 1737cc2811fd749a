"""Addresses of the things that pages open, each with the scope carried on; going back leads to where one was.

A button in a table leaves its page by ``st.switch_page``, which makes two steps in the browser's history: this page at
the other's address, then the other page. Whoever comes back to the first is shown what they had left instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

import streamlit as st

from controls.scope import enter, scope_address

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streamlit.elements.lib.column_types import ButtonColumnResult, ColumnConfig

GOING, LEFT = "going_to", "left_behind"
REMEMBERED = 50  # departures of one session

Address = dict[str, str]
Row = TypeVar("Row")


def observation_address(observation: str) -> Address:
    """The query parameters of a link to the Observation page."""
    return scope_address() | {"observation": str(observation)}


def retrieval_address(retrieval: str) -> Address:
    """The query parameters of a link to the Inspector, opened at a logged retrieval."""
    return scope_address() | {"retrieval": str(retrieval)}


@dataclass(frozen=True)
class Heading:
    """What stands above a column of buttons, how wide it is, and what it means."""

    label: str = ""
    width: int | Literal["small"] = "small"
    explained: str | None = None


UNNAMED = Heading()


def open_column(
    key: str, ids: Sequence[str], page: str, name: str, heading: Heading = UNNAMED, **more: str
) -> ButtonColumnResult | ColumnConfig:
    """A column of buttons that open a page at the row's id; ``more`` stands in the address beside it.

    The ids go along as they were when the row was drawn: a table that has changed meanwhile cannot lead astray.
    """
    return st.column_config.ButtonColumn(
        heading.label,
        width=heading.width,
        type="tertiary",
        help=heading.explained,
        key=key,
        on_click=_clicked,
        args=(key, tuple(ids), page, name, more),
    )


def enter_column(orgs: Sequence[str]) -> ButtonColumnResult | ColumnConfig:
    """A column of buttons that move the scope into the row's organization."""
    return st.column_config.ButtonColumn(
        "", width=55, type="tertiary", key="enter", on_click=_entered, args=(tuple(orgs),)
    )


def clicked(key: str, rows: Sequence[Row]) -> Row | None:
    """What the clicked row of a table stands for, of what it stood for when it was drawn; none after no click."""
    found = st.session_state[key]
    return rows[found["row"]] if found is not None and 0 <= found["row"] < len(rows) else None


def _entered(orgs: tuple[str, ...]) -> None:
    if (org := clicked("enter", orgs)) is not None:
        enter(org)


def _clicked(key: str, ids: tuple[str, ...], page: str, name: str, more: Mapping[str, str]) -> None:
    if (id_ := clicked(key, ids)) is not None:
        go(page, **more, **{name: id_})


def go(page: str, **said: str) -> None:
    """Open a page at an address when this one runs next: a callback itself cannot leave its page.

    What is said as nothing is taken out of the scope.
    """
    st.session_state[GOING] = (page, said)


def open_observation(observation: str) -> None:
    """The same for an observation, as a row's button opens it."""
    go("observation.py", observation=observation)


def open_retrieval(retrieval: str) -> None:
    """The same for a logged retrieval, in the Inspector."""
    go("inspector.py", retrieval=retrieval)


def follow(here: str) -> None:
    """Go where the last click led, if it led anywhere; or, come back by the browser's button, show what was left."""
    going = st.session_state.pop(GOING, None)
    if going is None:
        _come_back(here)
        return
    page, said = going
    target = {name: value for name, value in (scope_address() | said).items() if value}
    leave(here, page, target)


def leave(here: str, page: str, target: Mapping[str, str | list[str]]) -> None:
    """Open a page at exactly this address, and remember what is left of another for whoever comes back."""
    if page == here:
        st.query_params.from_dict(target)
        st.rerun()
    left = st.session_state.setdefault(LEFT, {})
    shown = {name: value if isinstance(value, str) else value[-1] for name, value in target.items()}
    left[here, _key(shown)] = _present()
    while len(left) > REMEMBERED:
        del left[next(iter(left))]
    st.switch_page(page, query_params=target)


def _come_back(here: str) -> None:
    was = st.session_state.get(LEFT, {}).get((here, _key(st.query_params.to_dict())))
    if was is not None and was != _present():
        st.query_params.from_dict(was)
        st.rerun()


def _present() -> dict[str, list[str]]:
    """All that the address says, also where it says several things under one name."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def _key(address: Address) -> frozenset[tuple[str, str]]:
    return frozenset(address.items())
