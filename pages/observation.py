"""Observation: one memory by its address, with everything that is known of it and all that happened to it."""

import streamlit as st

from charts.look import QUIET
from charts.timeline import timeline
from controls import messages, observations, trust
from controls.dossier import dossier, happened, span
from controls.observation import head, lists, start
from controls.observation.provenance import provenance
from controls.view import view

PARTS = {
    "Retrievals": lists.retrievals,
    "Weight": lists.weight,
    "Cluster": lists.cluster,
    "Contradictions": lists.contradictions,
    "Neighbours": lists.neighbours,
    "Provenance": provenance,
}

scope = view().scope
named = head.said()
found = None if named is None else dossier(scope, named)
if found is None:
    if named is not None:
        messages.unknown_observation()
    if not observations.finder(scope):
        start.lists(scope)
else:
    head.text(found, scope)
    trust.strip(head.trust_of(found))
    head.figures(found)
    head.contradicted_weight(found)
    st.plotly_chart(
        timeline(happened(found), found.steps, *span(found)),
        key="life",
        config=QUIET,
        alt="The observation's weight over time above everything that happened to it; larger marks stand for several",
    )
    head.sizes(happened(found))
    for tab, draw in zip(lists.tabs(list(PARTS)), PARTS.values(), strict=True):
        if tab.open:
            with tab:
                draw(found)
