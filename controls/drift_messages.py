"""The states of Drift Alerts besides showing its figures, worded once; no tenant text, as in ``messages``."""

from __future__ import annotations

import streamlit as st

from controls.messages import counted


def drift_needs_one_organization() -> None:
    """Contradictions of all organizations at once, which never meet."""
    st.info(
        "Statements contradict each other inside one organization. Choose one in the sidebar, or on Overview.",
        icon=":material/apartment:",
    )


def no_alerts(*, filtered: bool) -> None:
    """A scope in which nothing contradicts, or nothing that the filters let through."""
    st.info(
        "No alert passes these filters. Reset them, or lower the threshold."
        if filtered
        else "No two statements of this scope contradict each other at this threshold.",
        icon=":material/handshake:",
    )


def unknown_alert() -> None:
    """An address that names an alert which is not there, not any more, or may not be seen: the same words for all."""
    st.warning(
        "No such alert at this threshold: it does not exist here, a text has changed since, or you may not see it. "
        "Lower the threshold, or open one from the list.",
        icon=":material/link_off:",
    )


def triage_needs_an_operator() -> None:
    """Someone who may look at alerts and not decide about them."""
    st.caption("You may see these alerts. Deciding about them takes the role operator; an administrator grants it.")


def triage_read_only(*, kept: bool) -> None:
    """A store that is only read here, or has nowhere to keep triage."""
    st.info(
        "Alerts can be seen and not triaged here: no login that may write is configured. Set `RANKSCOPE_WRITE_URL` to "
        "a login that may write schema `rankscope`, and start again."
        if kept
        else "Alerts can be seen and not triaged here: this store has no tables of schema `rankscope` to keep triage "
        "in. `python -m jobs migrate` makes them.",
        icon=":material/edit_off:",
    )


def report_too_large(rows: int) -> None:
    """More alerts than a page hands out as a file."""
    st.info(
        f"{counted(rows, 'alert')} are more than this page makes a file of. The command below writes them all, "
        "whatever their number.",
        icon=":material/terminal:",
    )
