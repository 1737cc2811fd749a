"""Feedback Impact: what feedback weighting did to the order of retrievals, and to what agents were given."""

import streamlit as st

from charts.impact import MOST_RANKS, delta_histogram, outside_the_map, rank_map
from charts.impact_parts import outcome_mix, weight_histogram
from charts.look import QUIET
from charts.slope import MOST, slope, without_a_line
from controls import impact, impact_filters, impact_measures, impact_parts, impact_retrieval, messages, trust
from controls.impact_answers import ask
from controls.view import view

scope = view().scope
chosen = impact_filters.choose(scope)
cell, opened, part = impact_filters.chosen_cell(), impact_filters.opened_retrieval(), impact_filters.chosen_part()
found = ask(chosen, cell, part, opened)
messages.ignored_in_link(impact_filters.ignored())

trust.strip(impact.trust_of(found.days, found.now, found.timeless, found.as_of, chosen.shape))
if found.now["retrievals"]:
    impact.finding(found.now, chosen.top)
    impact_measures.head(found.days, found.now, found.then, chosen.top)
    messages.compared(found.then["retrievals"], scope.days, " Lines are by day.")
elif chosen.filters.narrow:
    messages.nothing_left("retrievals")
else:
    messages.nothing_found("retrievals")

if found.now["comparable"]:
    with st.container(horizontal=True, gap="small"):  # one below the other where the window is narrow
        st.plotly_chart(
            rank_map(found.moves, cell),
            key=impact.MAP,
            width=570,
            on_select=impact.cell_clicked,
            selection_mode="points",
            config=QUIET,
            alt="Candidates by rank without feedback and with it; a click on a cell lists its retrievals",
        )
        st.plotly_chart(
            delta_histogram(found.moves),
            key="deltas",
            width=380,
            config=QUIET,
            alt="Candidates by how many places they moved",
        )
    impact.not_drawn(found.moves, outside_the_map(found.moves), MOST_RANKS)
    impact.retrievals(found.listed, found.moves, cell, chosen.top)

if found.opened is not None and opened is not None:
    if found.opened.empty:
        messages.no_such_retrieval()
    else:
        retrieval = impact_retrieval.one_tenant(found.opened)
        impact_retrieval.head(retrieval, opened)
        st.plotly_chart(
            slope(retrieval, impact_retrieval.block_size(retrieval)),
            key="slope",
            config=QUIET,
            alt="The ranks of one retrieval's candidates without feedback and with it",
        )
        impact_retrieval.not_drawn(without_a_line(retrieval), MOST)
        impact_retrieval.scores(retrieval)

if found.now["comparable"]:
    impact_filters.choose_part()
    if part == "weights":
        st.plotly_chart(
            weight_histogram(found.moves), key="weights", config=QUIET, alt="Candidates by feedback weight, 0 to 1"
        )
    elif part == "measures":
        st.caption(impact.flips(found.now))
        impact_measures.table(found.days, found.now, found.then, chosen.top)
    elif part == "outcomes" and found.part is not None:
        ended = impact_parts.outcomes(found.part)
        if bars := impact_parts.bars(ended):
            figure = outcome_mix(bars, impact_parts.outcome_finding(ended))
            st.plotly_chart(
                figure, key="outcomes", config=QUIET, alt="Shares of outcomes with and without a changed block"
            )
        impact_parts.behind_outcomes(ended)
    elif found.part is not None:
        impact_parts.movers(found.part)
