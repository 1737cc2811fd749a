"""Overview: every organization in scope, what feedback changed, and how far the log can be trusted."""

import streamlit as st

from charts.activity import feedback_by_day
from charts.look import QUIET
from controls import messages, organizations, trust
from controls.loading import kept, load, shape
from controls.view import view
from queries.organizations import Features
from queries.overview import DailyRetrievals, Overview

scope = view().scope
asked = (Overview(scope, shape()), Overview(scope.before(), shape()), DailyRetrievals(scope, shape()), Features(scope))
answers = load(*asked)
overview, before, daily, features = answers.frames
# A figure and a table take longer to build than everything else on the page.
totals, by_day, rows = kept(
    "overview",
    lambda: (
        organizations.totals(overview, before),
        None if daily.empty else feedback_by_day(daily, scope.since, scope.until),
        organizations.rows(overview, daily, features, scope),
    ),
    answers,
    *asked,
)

trust.strip(organizations.trust_of(overview, features, answers.as_of, shape()))
organizations.figures(*totals, scope)
if by_day is None:
    messages.nothing_found("retrievals")
else:
    st.plotly_chart(
        by_day,
        key="by_day",
        config=QUIET,
        alt="Retrievals per day, split by whether feedback changed the top 5",
    )
organizations.table(rows, len(overview), scope)
