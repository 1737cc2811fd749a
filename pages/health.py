"""Health: whether memory is in good order, what to do where it is not, and which memories to look at."""

import streamlit as st

from charts.budget import pareto
from charts.coverage import heat_map
from charts.health import bands
from charts.look import QUIET
from controls import health, health_change, health_parts, health_system, health_tables, messages, trust
from controls.health_answers import ask
from controls.loading import shape
from controls.view import view
from queries.errors import LACKING, StoreError

scope, principal = view().scope, view().principal
part = health.chosen_part()
memory = ask(scope)
messages.ignored_in_link(health_parts.ignored())

trust.strip(health.trust_of(memory, shape(), scope))
health_change.sentence(memory, scope)
health.figures(memory)
health.choose_part()
try:
    if part == "memory":
        st.plotly_chart(
            bands(health.rows(memory), health.title(memory)),
            key="bands",
            config=QUIET,
            alt="Every check on one scale from in order to act",
        )
        health.unanswered(memory)
        health_change.to_do(memory)
        health_tables.table(memory)
        health_tables.behind(memory, scope)
        health_tables.organizations(memory, scope)
    elif part == "top":
        health_parts.top(scope)
    elif part == "budget":
        found = health_parts.budgets(scope)
        if found.tokens is not None and found.accepted is not None:
            st.plotly_chart(
                pareto(health_parts.points(found), health_parts.frontier(found), (found.tokens, found.accepted)),
                key="pareto",
                config=QUIET,
                alt="Work types by mean tokens injected and share of sessions accepted, with the frontier",
            )
        health_parts.budget_table(found)
    elif part == "coverage":
        if (cells := health_parts.coverage(scope)) is not None:
            st.plotly_chart(
                heat_map(*cells),
                key="coverage",
                config=QUIET,
                alt="Share of stored observations that reached agents, by project or agent and time",
            )
            health_parts.below_coverage(cells[0], cells[1])
    elif part == "runs":
        health_system.runs(memory)
    else:
        health_system.system(principal, scope)
except StoreError as error:
    if error.kind not in LACKING:
        raise
    messages.unanswered(error)
