"""Drift Alerts of an organization with more alerts than a page holds, so many of which its address says."""

from datetime import UTC, datetime, timedelta

import streamlit as st

from analysis.drift_json import worst_of
from analysis.drift_search import search
from controls import drift, drift_filters, drift_reports, drift_worklist
from controls.access import current_principal
from controls.loading import store
from queries.scope import Reach, Scope

today = datetime.now(UTC).date()
scope = Scope.of_days(Reach(("org_a",)), today - timedelta(days=29), today, "org_a")
searched = worst_of(search(store(), scope), int(st.query_params["most"]))
found = drift.gather(scope, searched, drift_filters.wanted(), datetime.now(UTC))
drift.trust(found)
drift.figures(found)
drift_worklist.worklist(found)
drift_reports.of_page(found, current_principal())
