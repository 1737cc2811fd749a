"""A page of report buttons alone, for as many alerts as its address says."""

from datetime import UTC, datetime

import streamlit as st

from analysis.drift.alerts import AlertFilter
from controls.access import current_principal
from controls.drift.reports import DriftReport, command_line, report_buttons
from queries.scope import Scope

as_of = datetime(2026, 3, 1, tzinfo=UTC)
day = as_of.date()
scope = Scope.of_days(current_principal().reach, day, day, "org '<b>")
report_buttons(
    DriftReport(current_principal(), scope, AlertFilter(0.5)), as_of=as_of, rows=int(st.query_params["rows"])
)
command_line(scope, AlertFilter(0.5))
