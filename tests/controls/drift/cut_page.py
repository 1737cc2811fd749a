"""Drift Alerts of an organization with more alerts than a page holds, so many of which its address says."""

from datetime import UTC, datetime, timedelta

import streamlit as st

from analysis.drift.search import search
from analysis.drift.tasks import worst_of
from controls.access import current_principal
from controls.drift import filters, head, reports, worklist
from controls.drift.gathering import gather
from controls.loading import store
from queries.scope import Reach, Scope

today = datetime.now(UTC).date()
scope = Scope.of_days(Reach(("org_a",)), today - timedelta(days=29), today, "org_a")
searched = worst_of(search(store(), scope), int(st.query_params["most"]))
found = gather(scope, searched, filters.wanted(), datetime.now(UTC))
head.trust(found)
head.figures(found)
worklist.worklist(found)
reports.of_page(found, current_principal())
