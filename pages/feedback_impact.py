"""Feedback Impact: what feedback weighting did to the order of retrievals, and to what agents were given."""

import streamlit as st

from charts.impact import MOST_RANKS, delta_histogram, outside_the_map, rank_map
from charts.impact_parts import outcome_mix, weight_histogram
from charts.look import QUIET
from charts.slope import MOST, slope, without_a_line
from controls import messages, trust
from controls.impact import filters, findings, left_out, measures, outcomes
from controls.impact import retrieval as impact_retrieval
from controls.impact.answers import ask
from controls.impact.movers import movers
from controls.view import view

scope = view().scope
chosen = filters.choose(scope)
cell, opened, part = filters.chosen_cell(), filters.opened_retrieval(), filters.chosen_part()
found = ask(chosen, cell, part, opened, filters.chosen_reason())
messages.ignored_in_link(filters.ignored())

ended = outcomes.compared(found) if part == "outcomes" else None
trust.strip(findings.trust_of(found, chosen.shape))
if found.now["retrievals"]:
    findings.finding(found.now, chosen.top, found.about, scope, leads=found.left_out is None)
    measures.head(found, chosen.top, scope.days)
    outcomes.in_short(ended)
elif chosen.filters.narrow:
    filters.nothing_left(scope)
else:
    messages.nothing_found("retrievals")

compared = found.now["comparable"] and found.left_out is None  # pictures are of what is not left out
if compared:
    with st.container(horizontal=True, gap="small"):  # one below the other where the window is narrow
        st.plotly_chart(
            rank_map(found.moves, cell, found.about),
            key=findings.MAP,
            width=570,
            on_select=findings.cell_clicked,
            selection_mode="points",
            config=QUIET,
            alt="Candidates by rank without feedback and with it; a click on a cell lists its retrievals",
        )
        st.plotly_chart(
            delta_histogram(found.moves, found.about), key="deltas", width=380, config=QUIET,
            alt="Candidates by how many places they moved",
        )  # fmt: skip
    findings.not_drawn(found.moves, outside_the_map(found.moves), MOST_RANKS)
    findings.retrievals(found.listed, found.moves, cell, chosen.top, found.about)
elif found.now["retrievals"]:
    filters.choose_part(able=bool(found.now["comparable"]))
    left_out.listed(found, scope)

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

if compared:
    filters.choose_part()
    if part == "weights":
        st.plotly_chart(
            weight_histogram(found.moves, found.about), key="weights", config=QUIET,
            alt="Candidates by feedback weight, 0 to 1",
        )  # fmt: skip
    elif part == "measures":
        st.caption(findings.flips(found.now, found.about))
        measures.table(found, chosen.top)
    elif ended is not None:
        if bars := outcomes.bars(ended):
            figure = outcome_mix(bars, outcomes.finding(ended))
            st.plotly_chart(
                figure, key="outcomes", config=QUIET, alt="Shares of outcomes with and without a changed block"
            )
        outcomes.behind(ended, drawn=bool(found.about))
    elif found.part is not None:
        movers(found.part, drawn=bool(found.about))
