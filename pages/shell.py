"""The script around every page: who asks, which scope, which page; a page never runs without it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from controls import empty_messages, frame, link_banner, links, loading, messages, saved_views, search, store_state
from controls.access import NotAllowedError, NotSignedInError, came_for, current_principal, sign_in
from controls.scope import choose_scope
from controls.sections import SECTIONS
from controls.view import shown_to
from queries.errors import StoreError

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

    from controls.sections import Entry

    Pages = dict[str, dict[StreamlitPage, Entry]]

ICON = Path(__file__).with_name("icon.png")  # a Material icon here would be fetched from a foreign host
LOGO = Path(__file__).with_name("logo.svg")


def draw(page: StreamlitPage, entry: Entry, pages: Pages, run: frame.Run) -> None:
    """The frame, then the page inside it."""
    principal = current_principal()
    run.asked_by(principal)
    search.box()
    frame.navigation(pages)
    frame.isolation()
    scope = choose_scope(principal, in_window=entry.in_window)
    links.follow(entry.script)
    scripts = {each.script for entries in SECTIONS.values() for each in entries}
    if (wanted := came_for()) is not None:
        saved_views.go(entry.script, *wanted, scripts)
    saved_views.panel(principal, entry.script, scripts, scope if entry.in_window else None)
    frame.banner(principal)
    if scope is None:
        empty_messages.no_organizations(everything=principal.reach.orgs is None)
        return
    search.results(scope, scripts)
    st.text(f"{entry.answers}: {scope.in_words()}." if entry.in_window else f"{entry.answers}.")
    if store_state.holds_nothing(scope):
        empty_messages.nothing_yet(entry.meanwhile)
    with shown_to(principal, scope):
        page.run()


def main() -> None:
    """The page that the address names; where it cannot be shown, one sentence that says why."""
    st.logo(LOGO, icon_image=ICON, size="large")
    st.set_page_config(page_title="Rankscope", page_icon=ICON, layout="wide")
    st.html(Path(__file__).with_name("beyond_theme.css"))
    garbage = loading.garbage()
    pages: Pages = {
        section: {st.Page(entry.script, title=entry.title, icon=entry.icon): entry for entry in entries}
        for section, entries in SECTIONS.items()
    }
    page = st.navigation({section: list(found) for section, found in pages.items()}, position="hidden")
    entry = next(found[page] for found in pages.values() if page in found)
    st.title(entry.title)
    with link_banner.told_in(st.container()), frame.logged(entry.title) as run:
        try:
            draw(page, entry, pages, run)
        except NotSignedInError as error:
            run.outcome = "not signed in"
            if messages.sign_in(str(error)):
                sign_in(entry.script, saved_views.present())
        except NotAllowedError as error:
            run.outcome = "not allowed"
            messages.not_allowed(str(error))
        except StoreError as error:
            run.failed_with(error)
            messages.failed(error)
    garbage.tidy()


main()
