"""Overview: every organization in scope, what feedback changed, and how far the log can be trusted."""

import streamlit as st

from charts.activity import feedback_by_day
from charts.look import QUIET
from controls import messages, trust
from controls.loading import kept, load, shape
from controls.overview import summary
from controls.view import view
from queries.drawn import WHOLE
from queries.flags.states import Features
from queries.overview import DailyRetrievals, Overview

scope = view().scope
log = shape()
asked = (Overview(scope, log), Overview(scope.before(), log), DailyRetrievals(scope, log))
answers = load(*asked)
now, before, daily = answers.frames
flags = Features(scope, tuple(summary.listed(now)["org_id"]))
features = load(flags).frames[0]
# A figure and a table take longer to build than everything else on the page.
by_day, sums, rows = kept(
    "overview",
    lambda: (
        None if daily.empty else feedback_by_day(daily, scope.since, scope.until, estimated=log.share(scope) < WHOLE),
        *summary.told(now, before, daily, features, scope, log.share(scope)),
    ),
    answers,
    *asked,
    flags,
)

trust.strip(summary.trust_of(now, features, answers.as_of, log, scope))
summary.figures(*sums, scope, answers.as_of, log.share(scope))
if by_day is None:
    messages.nothing_found("retrievals")
else:
    st.plotly_chart(
        by_day,
        key="by_day",
        config=QUIET,
        alt="Retrievals per day, split by whether feedback changed the top 5",
    )
summary.table(rows, len(now))
