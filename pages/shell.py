"""The script around every page: who asks, which scope, which page; a page never runs without it."""

from __future__ import annotations

import hashlib
import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from controls import empty_messages, links, loading, messages, saved_views, search, standing
from controls.access import (
    NotAllowedError,
    NotSignedInError,
    Principal,
    came_for,
    current_principal,
    sign_in,
    sign_out,
)
from controls.scope import choose_scope, scope_address
from controls.sections import SECTIONS
from controls.view import shown_to
from queries.errors import StoreError

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

    from controls.sections import Entry

ICON = Path(__file__).with_name("icon.png")  # a Material icon here would be fetched from a foreign host
NOT_ISOLATED = (
    "Organizations are kept apart by the predicates of this application alone. "
    "`python -m jobs doctor` prints the roles and policies that would let the database enforce it."
)
LOGO = Path(__file__).with_name("logo.svg")
log = logging.getLogger("rankscope.page")


def draw_navigation(pages: dict[str, dict[StreamlitPage, Entry]]) -> None:
    """Links to every page, by section, that take the scope along; Streamlit's own menu would drop it."""
    carried = scope_address()
    with st.sidebar:
        for section, found in pages.items():
            st.caption(section)
            for page in found:
                st.page_link(page, query_params=carried)


def banner(principal: Principal) -> None:
    """Who is asking and what they are connected to, at the foot of the sidebar."""
    with st.sidebar:
        st.divider()
        access = "reads and writes" if loading.may_write() and principal.may("operator") else "read-only"
        st.text(f"{principal.name}, {principal.role}")
        st.caption(f":material/database: {standing.store_name()}, {access}")
        if principal.how == "oidc" and st.button("Sign out", key="sign_out", type="tertiary", icon=":material/logout:"):
            sign_out()


def main() -> None:
    """Draw the frame, then the page inside it."""
    st.logo(LOGO, icon_image=ICON, size="large")
    st.set_page_config(page_title="Rankscope", page_icon=ICON, layout="wide")
    st.html(Path(__file__).with_name("contrast.css"))
    loading.settle_memory()
    pages = {
        section: {st.Page(entry.script, title=entry.title, icon=entry.icon): entry for entry in entries}
        for section, entries in SECTIONS.items()
    }
    page = st.navigation({section: list(found) for section, found in pages.items()}, position="hidden")
    entry = next(found[page] for found in pages.values() if page in found)
    started = time.perf_counter()
    outcome, who = "ok", "-"
    st.title(entry.title)
    try:
        principal = current_principal()
        who = hashlib.sha256(principal.name.encode()).hexdigest()[:8]
        search.box()
        draw_navigation(pages)
        if (gap := loading.isolation_gap()) is not None:
            st.warning(f"{gap.capitalize()}. {NOT_ISOLATED}", icon=":material/gpp_maybe:")
        scope = choose_scope(principal)
        links.follow(entry.script)
        scripts = {each.script for entries in SECTIONS.values() for each in entries}
        if (wanted := came_for()) is not None:
            saved_views.go(entry.script, *wanted, scripts)
        saved_views.panel(principal, entry.script, scripts)
        banner(principal)
        if scope is None:
            empty_messages.no_organizations(everything=principal.reach.orgs is None)
            return
        search.results(scope, scripts)
        st.text(f"{entry.answers}: {scope.in_words()}." if entry.in_window else f"{entry.answers}.")
        if scope.org is not None and standing.holds_nothing(scope):
            empty_messages.nothing_yet()
        with shown_to(principal, scope):
            page.run()
    except NotSignedInError as error:
        outcome = "not signed in"
        if messages.sign_in(str(error)):
            sign_in(entry.script, saved_views.present())
    except NotAllowedError as error:
        outcome = "not allowed"
        messages.not_allowed(str(error))
    except StoreError as error:
        outcome = error.kind
        log.warning("store kind=%s state=%s", error.kind, error.sqlstate or "none")
        messages.failed(error)
    finally:
        spent = (time.perf_counter() - started) * 1000
        log.info("page name=%s ms=%.0f outcome=%s principal=%s", entry.title, spent, outcome, who)


main()
