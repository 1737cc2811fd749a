"""Saved views: the present address under a name of one's own, opened, shared, renamed and archived."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit
from uuid import UUID, uuid4

import streamlit as st

from controls import glossary, links, messages
from controls.access import NotAllowedError, current_principal
from controls.loading import may_write, store
from controls.scope import is_custom
from queries.engine import LIST
from queries.errors import StoreError
from queries.saved_views import (
    LONGEST_NAME,
    MOST,
    ArchiveView,
    RenameView,
    SavedView,
    SavedViews,
    SaveView,
    ViewError,
)
from queries.scope import NOTHING, isolated

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import date

    from controls.access import Principal
    from queries.scope import Scope

    Change = SaveView | RenameView | ArchiveView

GOING, SAID = "view_going", "views_said"
HOME = "overview.py"
TAKEN = "You have a view of this name. Choose another."
WINDOW, CUSTOM = ("window", "from", "to"), "custom"
PASSING = ("search",)  # what an address says for the moment only


def panel(principal: Principal, script: str, scripts: Collection[str], scope: Scope | None = None) -> None:
    """The views of whoever asks, behind one button of the sidebar; the store is asked when it is opened.

    ``scope`` is that of a page with a window.
    """
    _follow(script, scripts)
    with st.sidebar:
        opened = st.expander("Saved views", key="views", on_change="rerun", icon=":material/bookmark:")
    if not opened.open:
        return
    with opened:
        try:
            views = kept(principal.name)
        except StoreError as error:
            messages.left_out("Saved views", error)
            return
        if (told := st.session_state.pop(SAID, None)) is not None:
            st.caption(told)
        _save(script, scope)
        view = _opening(views[:MOST])
        if len(views) > MOST:
            st.caption(f"The first {MOST} of your views, by name. Remove some to have the others listed.")
        if view is not None:
            _keeping(view, scripts)


def kept(principal: str) -> tuple[SavedView, ...]:
    """The standing views of one principal."""
    return store().once(NOTHING, LIST, SavedViews(principal).ask, principal=principal, name="saved views")


def _save(script: str, scope: Scope | None) -> None:
    if not may_write():
        st.caption("Views can be opened and not saved here: no login that may write is configured.")
        return
    st.text_input("Name of this view", key="view_name", max_chars=LONGEST_NAME, placeholder="Acme, weights")
    dated = None
    if scope is not None and not is_custom():
        first, last = scope.since, scope.until - timedelta(days=1)
        dated = _of_days(present(), first.date(), last.date())
        st.caption(f"Keeps a window of the last {scope.days} days, counted from the day it is opened.")
        st.checkbox(f"Keep {first:%-d %b} to {last:%-d %b %Y} instead", key="view_dates")
    args = (script, present(), dated)
    st.button("Save this view", key="view_save", on_click=_saved, args=args, help=glossary.SAVED_VIEW)


def _of_days(query: str, first: date, last: date) -> str:
    """The address with these days for its window, which then stays where it is."""
    others = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name not in WINDOW]
    return urlencode([*others, ("window", CUSTOM), ("from", first.isoformat()), ("to", last.isoformat())])


def _opening(views: tuple[SavedView, ...]) -> SavedView | None:
    """The view that is chosen, with a button that opens it."""
    if not views:
        st.caption("You have saved no view yet. A view is this page with everything its address says.")
        return None
    names = {str(view.id): isolated(view.name) for view in views}
    if st.session_state.get("view_picked") not in names:
        # said, not left to the default: the browser would go on showing a view that is no longer there
        st.session_state["view_picked"] = next(iter(names))
    picked = st.selectbox(
        "Your views", names, format_func=names.__getitem__, key="view_picked", on_change=_another_picked
    )
    view = next(each for each in views if str(each.id) == picked)
    st.button("Open this view", key="view_open", on_click=_going, args=(view.page, view.query))
    return view


def _keeping(view: SavedView, scripts: Collection[str]) -> None:
    """The link of the chosen view, another name for it, and its end."""
    st.caption(
        f"Link of the view above, saved on {view.created_at:%-d %b %Y}. "
        "Whoever opens it sees as much of it as they may."
    )
    st.code(link(view.page, view.query, scripts), language=None, wrap_lines=True)
    if may_write():
        st.text_input("New name", key="view_renamed", max_chars=LONGEST_NAME)
        with st.container(horizontal=True):
            st.button("Rename", key="view_rename", on_click=_renamed, args=(str(view.id),))
            st.button("Remove", key="view_remove", on_click=_removed, args=(str(view.id),))


def present() -> str:
    """What the address says now, as it would stand behind a question mark."""
    names = [name for name in st.query_params if name not in PASSING]
    return urlencode([(name, value) for name in names for value in st.query_params.get_all(name)])


def link(script: str, query: str, scripts: Collection[str]) -> str:
    """The address to hand on, below wherever this is served: whoever opens it sees it as far as they may."""
    path = "/" if script == HOME else f"/{script.removesuffix('.py')}"
    here = urlsplit(st.context.url or "")
    origin = f"{here.scheme}://{here.netloc}" if here.netloc else ""
    below, _, last = here.path.rpartition("/")
    base = below if not last or f"{last}.py" in scripts else here.path
    return f"{origin}{base}{path}{'?' if query else ''}{query}"


def _going(script: str, query: str) -> None:
    st.session_state[GOING] = (script, query)


def _follow(here: str, scripts: Collection[str]) -> None:
    going: tuple[str, str] | None = st.session_state.pop(GOING, None)
    if going is not None:
        go(here, *going, scripts)
        st.session_state[SAID] = "The page of this view no longer exists."


def go(here: str, script: str, query: str, scripts: Collection[str]) -> None:
    """Open a page with all that an address said; nothing where there is no such page."""
    if script in scripts:
        links.leave(here, script, parse_qs(query, keep_blank_values=True))


def _saved(script: str, rolling: str, dated: str | None) -> None:
    name, id_ = st.session_state["view_name"], uuid4()
    query = dated if dated is not None and st.session_state.get("view_dates") else rolling
    if _apply(lambda who: SaveView(who, name, script, query, id_), "Saved.", TAKEN):
        # chosen, so that the link below is this view's
        st.session_state["view_picked"], st.session_state["view_name"] = str(id_), ""
        st.session_state["view_dates"] = False


def _another_picked() -> None:
    st.session_state["view_renamed"] = ""  # it was meant for the view before


def _renamed(id_: str) -> None:
    name = st.session_state["view_renamed"]
    if _apply(lambda who: RenameView(who, UUID(id_), name), "Renamed.", "This view is no longer there."):
        # chosen anew: the browser knows it by its name of before
        st.session_state["view_picked"], st.session_state["view_renamed"] = id_, ""


def _removed(id_: str) -> None:
    if _apply(lambda who: ArchiveView(who, UUID(id_)), "Removed.", "This view is no longer there."):
        st.session_state["view_renamed"] = ""


def _apply(change: Callable[[str], Change], done: str, undone: str) -> bool:
    """Make a change as whoever asks now: who that is, and whether they may see anything, is asked anew."""
    made = False
    try:
        wanted = change(current_principal().name)
        with store().writing(NOTHING, LIST, name="saved view") as connection:
            made = wanted.apply(connection)
        told = done if made else undone
    except (ViewError, NotAllowedError) as error:
        told = str(error)
    except StoreError as error:
        made, told = False, TAKEN if error.kind == "conflict" else error.sentence
    st.session_state[SAID] = told
    return made
