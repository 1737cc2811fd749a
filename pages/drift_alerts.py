"""Drift Alerts: which memories contradict each other, how far both reached agents, and what was decided about it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import streamlit as st

from controls import (
    drift,
    drift_alert,
    drift_filters,
    drift_messages,
    drift_pairs,
    drift_reports,
    drift_searching,
    drift_triage,
    drift_worklist,
    messages,
)
from controls.view import view

if TYPE_CHECKING:
    from controls.access import Principal
    from controls.drift import Drift
    from queries.scope import Scope


def draw_opened(found: Drift, fingerprint: str, principal: Principal) -> None:
    """One alert whole: decide about it, read it, follow it."""
    one = drift_alert.current(found, fingerprint)
    st.subheader("Alert", anchor=False)
    drift_triage.steps(found, one)
    if one is None:
        drift_messages.unknown_alert()
        return
    drift_alert.statements(found, one)
    drift_triage.panel(found, one, principal)
    drift_alert.facts(found, one)
    drift_alert.lives(found, one)


def main(scope: Scope, principal: Principal) -> None:
    """Figures, the worklist beside the sliders, the alert that was opened, and how it went over time."""
    messages.ignored_in_link(drift_filters.ignored())
    searched = drift_searching.search(scope, drift_filters.threshold())
    if searched is None:
        return
    top, opened_place = st.container(), st.container()
    with st.container(horizontal=True, gap="medium"):  # one below the other where the window is narrow
        work, panel = st.container(width=drift.LIST), st.container(width=drift.PANEL)
    with panel:
        agents = {side.agent_id for one in searched.found for side in (one.older, one.newer)}
        wanted, below = drift_filters.choose(agent for agent in agents if agent)
    found = drift.gather(scope, searched, wanted, datetime.now(UTC))
    with top:
        drift.trust(found)
        drift.figures(found)
    opened = drift_filters.opened()
    if opened is not None:
        with opened_place:  # on top: whoever opened it by a link or a key need not look for it
            draw_opened(found, opened, principal)
    with work:
        if found.listed:
            drift_worklist.worklist(found)
        else:
            drift_messages.no_alerts(filtered=bool(found.every))
    with below:
        drift.draw_precision(found)
    drift.draw_trends(found)
    drift_reports.of_page(found, principal)
    drift_pairs.pairs(scope, principal)


if view().scope.org is None:
    drift_messages.drift_needs_one_organization()
else:
    main(view().scope, view().principal)
