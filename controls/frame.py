"""What stands around every page besides its scope: links to all pages, who asks, and the line that each run logs."""

from __future__ import annotations

import hashlib
import logging
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from controls import loading, store_state
from controls.access import sign_out
from controls.scope import scope_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from streamlit.navigation.page import StreamlitPage

    from controls.access import Principal
    from queries.errors import StoreError

NOT_ISOLATED = (
    "Organizations are kept apart by the predicates of this application alone. "
    "`python -m jobs doctor` prints the roles and policies that would let the database enforce it."
)
log = logging.getLogger("rankscope.page")


@dataclass
class Run:
    """One run of a page: whose, by a digest of the name, and how it went."""

    who: str = "-"
    outcome: str = "ok"

    def asked_by(self, principal: Principal) -> None:
        """Whose run it is."""
        self.who = hashlib.sha256(principal.name.encode()).hexdigest()[:8]

    def failed_with(self, error: StoreError) -> None:
        """The store could not be asked."""
        self.outcome = error.kind
        log.warning("store kind=%s state=%s", error.kind, error.sqlstate or "none")


@contextmanager
def logged(page: str) -> Iterator[Run]:
    """One line in the log for every run of a page, however it ends."""
    started, run = time.perf_counter(), Run()
    try:
        yield run
    finally:
        spent = (time.perf_counter() - started) * 1000
        log.info("page name=%s ms=%.0f outcome=%s principal=%s", page, spent, run.outcome, run.who)


def navigation(pages: Mapping[str, Iterable[StreamlitPage]]) -> None:
    """Links to every page, by section, that take the scope along; Streamlit's own menu would drop it."""
    carried = scope_address()
    with st.sidebar:
        for section, found in pages.items():
            st.caption(section)
            for page in found:
                st.page_link(page, query_params=carried)


def isolation() -> None:
    """A warning where the database does not keep organizations apart itself."""
    if (gap := loading.isolation_gap()) is not None:
        st.warning(f"{gap.capitalize()}. {NOT_ISOLATED}", icon=":material/gpp_maybe:")


def banner(principal: Principal) -> None:
    """Who is asking and what they are connected to, at the foot of the sidebar."""
    with st.sidebar:
        st.divider()
        access = "reads and writes" if loading.may_write() and principal.may("operator") else "read-only"
        st.text(f"{principal.name}, {principal.role}")
        st.caption(f":material/database: {store_state.store_name()}, {access}")
        if principal.how == "oidc" and st.button("Sign out", key="sign_out", type="tertiary", icon=":material/logout:"):
            sign_out()
