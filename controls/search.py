"""One box that finds anything by id or name: organizations, projects, observations, retrievals, alerts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from controls import glossary, links, messages
from controls.address import said, say
from controls.loading import shape
from controls.messages import counted
from controls.partly import each
from queries.anything import questions
from queries.scope import is_storable

if TYPE_CHECKING:
    from collections.abc import Collection

    from queries.scope import Scope

LONGEST = 200
# kind: the page that shows it, and the names its id and its organization have in that page's address
PLACES = {
    "organization": ("overview.py", "org"),
    "project": ("overview.py", "project"),
    "observation": ("observation.py", "observation"),
    "retrieval": ("inspector.py", "retrieval"),
    "alert": ("drift_alerts.py", "alert"),
}
Place = tuple[str, dict[str, str]]


def box() -> None:
    """The box, on top of the sidebar; what is looked for stands in the address."""
    st.session_state["search_box"] = _words() or ""
    with st.sidebar:
        st.text_input(
            "Find", key="search_box", on_change=_asked, max_chars=LONGEST, icon=":material/search:",
            placeholder="Id or name of anything", label_visibility="collapsed", help=glossary.FIND,
        )  # fmt: skip


def results(scope: Scope, scripts: Collection[str]) -> None:
    """What was found, each row opened by its id; nothing where nothing is looked for."""
    words = _words()
    if words is None:
        return
    places = {kind: place for kind, place in PLACES.items() if place[0] in scripts}
    asked = {k: q for k, q in questions(scope, words, by_retrieval=shape().retrieval_id).items() if k in places}
    found = each(asked)
    rows = pd.concat([frame.assign(kind=kind) for kind, frame in found.frames.items()], ignore_index=True)
    with st.container(border=True):
        if rows.empty:
            messages.nothing_called_that()
        else:
            st.caption(f"{counted(len(rows), 'thing')} in everything you may see.")
            _table(rows, places)
        for kind, error in found.failed.items():
            messages.left_out(f"{kind.capitalize()}s", error)
        st.button("Close", key="search_close", on_click=say, kwargs={"search": None}, type="tertiary")


def _table(rows: pd.DataFrame, places: dict[str, tuple[str, str]]) -> None:
    targets = tuple(_place(places[kind], org, id_) for kind, org, id_ in rows[["kind", "org_id", "id"]].to_numpy())
    if len(targets) == 1:  # no key presses a button in a table
        st.button("Open it", key="search_open_one", on_click=_open, args=targets)
    st.dataframe(
        rows.assign(open="Open")[["open", "kind", "name", "organization", "id"]],
        hide_index=True,
        key="search_found",
        column_config={
            "open": st.column_config.ButtonColumn(
                "", width="small", type="tertiary", key="search_open", on_click=_clicked, args=(targets,)
            ),
            "kind": st.column_config.TextColumn("Kind", width=100),
            "name": st.column_config.TextColumn("Name or text", width=420),
            "organization": st.column_config.TextColumn("Organization", width=170),
            "id": st.column_config.TextColumn("Id", width=280),
        },
    )


def _place(place: tuple[str, str], org: str, id_: str) -> Place:
    script, name = place
    return script, {"org": org} | {name: id_}


def _clicked(targets: tuple[Place, ...]) -> None:
    if (target := links.clicked("search_open", targets)) is not None:
        _open(target)


def _open(target: Place) -> None:
    script, address = target
    links.go(script, **address)


def _words() -> str | None:
    words = (said("search") or "").strip()
    return words if words and len(words) <= LONGEST and is_storable(words) else None


def _asked() -> None:
    words = st.session_state["search_box"].strip()
    say(search=words if is_storable(words) else None)
