"""Drift Alerts: which memories contradict each other, how far both reached agents, and what was decided about it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import streamlit as st

from controls import messages
from controls.drift import alert, filters, head, pairs, reports, searching, siblings, standing, trends, triage, worklist
from controls.drift import messages as drift_messages
from controls.drift.gathering import gather
from controls.view import view

if TYPE_CHECKING:
    from controls.access import Principal
    from controls.drift.gathering import Drift
    from queries.scope import Scope


def draw_opened(found: Drift, fingerprint: str, principal: Principal) -> None:
    """One alert whole: decide about it, read it, follow it."""
    one = alert.current(found, fingerprint)
    triage.steps(found, one, principal)
    if one is None:
        alert.missing(found, fingerprint)
        return
    others = siblings.of(found, one)
    siblings.told(found, others)
    texts = alert.statements(found, one)
    triage.panel(found, one, principal)
    siblings.ways_to(found, others)
    alert.ways_from(one, texts)
    alert.facts(found, one)
    alert.lives(found, one)


def main(scope: Scope, principal: Principal) -> None:
    """Figures and filters, the worklist, the alert that was opened below it, and how it went over time.

    While one is open the list is low and what stands above it folded: a click then opens it in sight, and so does a
    link or a key.
    """
    messages.ignored_in_link(filters.ignored())
    searched = searching.search(scope, filters.threshold())
    if searched is None:
        return
    opened = filters.opened()
    top = st.container()
    figures_place, filters_place = head.places(folded=opened is not None)
    with filters_place:
        wanted = filters.choose(searched)
    found = gather(scope, searched, wanted, datetime.now(UTC))
    with top:
        head.trust(found)
    with figures_place:
        reports.way_to_reports()
        head.figures(found)
    if found.listed:
        worklist.worklist(found)
    else:
        drift_messages.no_alerts(filtered=bool(found.every))
    if opened is not None:
        draw_opened(found, opened, principal)
    trends.draw_trends(found)
    trends.draw_precision(found)
    reports.of_page(found, principal)
    pairs.pairs(scope, principal)


if view().scope.org is None:
    standing.offer(view().scope)
else:
    main(view().scope, view().principal)
