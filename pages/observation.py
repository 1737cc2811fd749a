"""Observation: one memory by its address, with everything that is known of it and all that happened to it."""

import streamlit as st

from charts.look import QUIET
from charts.timeline import timeline
from controls import messages, observations, trust
from controls.observation import dossier
from controls.observation import lists as parts
from controls.view import view

PARTS = {
    "Retrievals": parts.retrievals,
    "Weight": parts.weight,
    "Cluster": parts.cluster,
    "Contradictions": parts.contradictions,
    "Neighbours": parts.neighbours,
    "Provenance": dossier.provenance,
}

scope = view().scope
named = dossier.said()
found = None if named is None else dossier.dossier(scope, named)
if found is None:
    if named is not None:
        messages.unknown_observation()
    observations.finder(scope)
else:
    dossier.text(found, scope)
    trust.strip(dossier.trust_of(found))
    dossier.figures(found)
    dossier.contradicted_weight(found)
    st.plotly_chart(
        timeline(dossier.happened(found), found.steps, *dossier.span(found)),
        key="life",
        config=QUIET,
        alt="The observation's weight over time above everything that happened to it",
    )
    for tab, draw in zip(parts.tabs(list(PARTS)), PARTS.values(), strict=True):
        if tab.open:
            with tab:
                draw(found)
