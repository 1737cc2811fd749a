"""One box that finds anything by id or name: organizations, projects, observations, retrievals, alerts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from controls import glossary, links, messages
from controls.address import said, say
from controls.grid import grid
from controls.loading import shape
from controls.messages import counted
from controls.partly import each
from controls.scope import scope_address
from queries.anything import LOOKED_THROUGH, ROWS_LOOKED_THROUGH, TitledObservations, questions
from queries.errors import listed
from queries.found import FOUND
from queries.found_alerts import ALERTS_LOOKED_THROUGH
from queries.scope import Reach, is_storable, isolated

if TYPE_CHECKING:
    from collections.abc import Collection

    from queries.scope import Scope

LONGEST = 200
REFUSED = "search_refused"
# kind: the page that shows it, and the name its id has in that page's address beside `org`
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
            placeholder="Name, title, query or id", label_visibility="collapsed", help=glossary.FIND,
        )  # fmt: skip


def results(scope: Scope, scripts: Collection[str]) -> None:
    """What was found, each row opened by its id; nothing where nothing is looked for."""
    words = _words()
    if st.session_state.pop(REFUSED, False) or (words is None and (said("search") or "").strip()):
        messages.cannot_be_looked_for(LONGEST)
    if words is None:
        return
    places = {kind: place for kind, place in PLACES.items() if place[0] in scripts}
    asked = {k: q for k, q in questions(scope, words, shape()).items() if k in places}
    found = each(asked)
    first = [frame.head(FOUND).assign(kind=kind) for kind, frame in found.frames.items()]
    rows = pd.concat(first, ignore_index=True)
    by_words = isinstance(asked.get("observation"), TitledObservations)
    among = None if not by_words else "each organization" if scope.org is None else "the chosen organization"
    with st.container(border=True):
        if rows.empty:
            messages.nothing_called_that(among, alerts="alert" in found.frames)
        else:
            counts = {kind: len(frame) for kind, frame in found.frames.items()}
            st.caption(_count(counts, among, alerts="alert" in found.frames))
            _table(rows, places, scope)
            if by_words and (ordered := _ordered(rows)):
                st.caption(ordered)
        if by_words and scope.org is not None and scope.reach != Reach.of(frozenset({scope.org})):
            st.button(
                "Search all organizations", key="search_all", icon=":material/public:",
                on_click=say, kwargs={"org": None, "project": None},
            )  # fmt: skip
        st.page_link(
            "observation.py", label="Look for these words inside memories", icon=":material/article:",
            query_params=scope_address() | {"words": words},
        )  # fmt: skip
        if by_words:
            st.caption(_looked_through(scope, queries="retrieval" in asked, alerts="alert" in found.frames))
        for kind, error in found.failed.items():
            messages.left_out(f"{kind.capitalize()}s", error)
        st.button("Close", key="search_close", on_click=say, kwargs={"search": None}, type="tertiary")


def _table(rows: pd.DataFrame, places: dict[str, tuple[str, str]], scope: Scope) -> None:
    targets = tuple(
        _place(places[kind], org, id_, elsewhere=kind == "alert" or org != scope.org)
        for kind, org, id_ in rows[["kind", "org_id", "id"]].to_numpy()
    )
    _by_keyboard(rows, targets)
    when, where = ([column] if rows[column].notna().any() else [] for column in ("at", "project"))
    grid(
        rows.assign(open="Open")[["open", "kind", "name", "organization", *when, *where, "id"]],
        hide_index=True,
        key="search_found",
        placeholder=messages.MISSING,
        column_config={
            "open": st.column_config.ButtonColumn(
                "", width=62, type="tertiary", key="search_open", on_click=_clicked, args=(targets,)
            ),
            "kind": st.column_config.TextColumn("Kind", width=92),
            "name": st.column_config.TextColumn("Name or text", width=250),
            "at": st.column_config.DatetimeColumn("Written (UTC)", format="D MMM YYYY HH:mm", width=135),
            "project": st.column_config.TextColumn("Project", width=105),
            "organization": st.column_config.TextColumn("Organization", width=135),
            "id": st.column_config.TextColumn("Id", width=280),
        },
    )


def _by_keyboard(rows: pd.DataFrame, targets: tuple[Place, ...]) -> None:
    """A way to each that needs no mouse: no key presses a button in a table."""
    parts = rows[["kind", "at", "name", "organization", "project"]].itertuples(index=False)
    labels = [_label(*row) for row in parts]
    by_id = {f"{script}?{urlencode(at)}": number for number, (script, at) in enumerate(targets)}
    picked = next(iter(by_id))
    if st.session_state.get("search_picked") not in by_id:
        # said, not left to the default: the browser would go on showing what was found before
        st.session_state["search_picked"] = picked
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(targets) > 1:
            picked = st.selectbox(
                "Found", by_id, format_func=lambda id_: labels[by_id[id_]], key="search_picked",
                label_visibility="collapsed",
            )  # fmt: skip
        st.button("Open it", key="search_open_one", on_click=_open, args=(targets[by_id[picked]],))


def _label(kind: str, at: Any, name: str, org: str, project: Any) -> str:  # noqa: ANN401 - or a missing one
    """One of those found; of what was written when comes first: it tells apart what reads the same."""
    when = "" if pd.isna(at) else f" of {at:%-d %b %Y %H:%M}"
    where = isolated(org) if pd.isna(project) else f"{isolated(org)}, {isolated(project)}"
    return f"{kind}{when}: {isolated(name)} ({where})"


def _count(found: dict[str, int], among: str | None, *, alerts: bool) -> str:
    """How many were found, and where was looked; of a kind with more than are listed nobody knows how many."""
    severe = " and alerts among the most severe" if alerts else ""
    where = f"titles and queries among the newest{severe} of {among}, names and ids in everything you may see"
    if all(count <= FOUND for count in found.values()):
        things = counted(sum(found.values()), "result")
        return f"{things} in everything you may see." if among is None else f"{things}: {where}."
    told = [f"the first {FOUND} {kind}s" if n > FOUND else counted(n, kind) for kind, n in found.items() if n]
    start = "In everything you may see" if among is None else where.capitalize()
    return f"{start}: {listed(told)}. More match: say more of the name to find them."


def _ordered(rows: pd.DataFrame) -> str:
    """In which order those of a kind stand that have several."""
    several = rows["kind"].value_counts() > 1
    written = any(several.get(kind, default=False) for kind in ("observation", "retrieval"))
    told = [
        "Observations and retrievals: those that begin with the words first, then the newest." * written,
        "Alerts: the most severe first." * bool(several.get("alert", default=False)),
    ]
    return " ".join(filter(None, told))


def _looked_through(scope: Scope, *, queries: bool, alerts: bool) -> str:
    """Among which observations titles were looked for, among which log rows queries, and among which alerts words."""
    rows, worst = f"{ROWS_LOOKED_THROUGH:,} log rows", f"{ALERTS_LOOKED_THROUGH:,}"
    if scope.org is not None:
        also = f"; queries of retrievals: among its newest {rows}" * queries
        also += f"; words of alerts: among its {worst} most severe" * alerts
        return f"Titles of observations: among the newest {LOOKED_THROUGH:,} of the organization in the sidebar{also}."
    also = f"; queries of retrievals: so too, among {rows}" * queries
    also += f"; words of alerts: among the most severe of each, {worst} in all" * alerts
    return (
        f"Titles of observations: among the newest of each organization, {LOOKED_THROUGH:,} in all{also}. Choose an "
        "organization in the sidebar to look further back in it."
    )


def _place(place: tuple[str, str], org: str, id_: str, *, elsewhere: bool) -> Place:
    """Where one is opened; ``elsewhere``: it may be of another project than the chosen one, which is left then."""
    script, name = place
    return script, {"org": org} | ({"project": ""} if elsewhere else {}) | {name: id_}


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
    st.session_state[REFUSED] = not is_storable(words)
    say(search=words if is_storable(words) else None)
