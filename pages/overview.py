"""Overview: every organization in scope, what feedback changed, and how far the log can be trusted."""

import streamlit as st

from charts.activity import feedback_by_day
from controls import messages, organizations, trust
from controls.loading import load, shape
from controls.view import view
from queries.organizations import Features
from queries.overview import DailyRetrievals, Overview

scope = view().scope
asked = (Overview(scope, shape()), Overview(scope.before(), shape()), DailyRetrievals(scope, shape()), Features(scope))
answers = load(*asked)
overview, before, daily, features = answers.frames

trust.strip(organizations.trust_of(overview, features, answers.as_of, shape()))
organizations.figures(overview, before, scope)
if daily.empty:
    messages.nothing_found("retrievals")
else:
    st.plotly_chart(
        feedback_by_day(daily, scope.since, scope.until),
        key="by_day",
        config={"displayModeBar": False},
        alt="Retrievals per day, split by whether feedback changed the top 5",
    )
organizations.table(overview, daily, features, scope)
