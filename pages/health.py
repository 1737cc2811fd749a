"""Health: whether memory is in good order, what to do where it is not, and which memories to look at."""

import streamlit as st

from charts.budget import pareto
from charts.coverage import heat_map
from charts.health import bands
from charts.health_days import shares_and_marks
from charts.look import QUIET
from controls import messages, trust
from controls.health import budget, change, coverage, days, filters, head, runs, system, tables, top, whose
from controls.health.answers import ask
from controls.ink import ink
from controls.loading import shape
from controls.view import view
from queries.errors import LACKING, StoreError

scope, principal = view().scope, view().principal
part = head.chosen_part()
memory = ask(scope)
messages.ignored_in_link(filters.ignored())

trust.strip(head.trust_of(memory, shape(), scope))
change.sentence(memory, scope)
whose.whose(memory, scope)
head.figures(memory)
head.choose_part()
try:
    if part == "memory":
        if lines := days.lines(memory, scope):
            marks = days.marks(memory, scope)
            st.plotly_chart(
                shares_and_marks(lines, marks, scope.since, days.title(lines, memory)),
                key="days",
                config=QUIET,
                alt=days.said(lines, marks),
            )
            days.not_marked(memory, scope)
        st.plotly_chart(
            bands(head.rows(memory), head.title(memory)),
            key="bands",
            config=QUIET,
            alt="Every check on one scale from in order to act",
        )
        head.unanswered(memory)
        change.to_do(memory, scope)
        tables.table(memory)
        tables.behind(memory, scope)
        tables.organizations(memory, scope)
    elif part == "top":
        top.top(scope)
    elif part == "budget":
        ended = budget.chosen()
        found = budget.budgets(scope, ended)
        if found.tokens is not None and found.share is not None:
            st.plotly_chart(
                pareto(
                    budget.points(found),
                    budget.frontier(found),
                    (found.tokens, found.share),
                    len(found.points) if found.is_cut else None,
                    budget.ENDED[ended].lower(),
                ),
                key="pareto",
                config=QUIET,
                alt="Work types by mean tokens injected and share of sessions that ended well, with the frontier",
            )
        budget.table(found, ended)
    elif part == "coverage":
        if (cells := coverage.coverage(scope)) is not None:
            st.plotly_chart(
                heat_map(*cells, ink=ink()),
                key="coverage",
                config=QUIET,
                alt="Share of stored observations that reached agents, by project or agent and time",
            )
            coverage.below(*cells)
    elif part == "runs":
        runs.runs(memory, scope)
    else:
        system.system(principal, scope)
except StoreError as error:
    if error.kind not in LACKING:
        raise
    messages.unanswered(error)
