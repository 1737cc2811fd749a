"""Observation: one memory by its address, with everything that is known of it and all that happened to it."""

import streamlit as st

from charts.look import QUIET
from charts.timeline import timeline
from controls import messages, observation, observations, trust
from controls import observation_parts as parts
from controls.view import view

PARTS = {
    "Retrievals": parts.retrievals,
    "Weight": parts.weight,
    "Cluster": parts.cluster,
    "Contradictions": parts.contradictions,
    "Neighbours": parts.neighbours,
    "Provenance": observation.provenance,
}

scope = view().scope
named = observation.said()
found = None if named is None else observation.dossier(scope, named)
if found is None:
    if named is not None:
        messages.unknown_observation()
    observations.finder(scope)
else:
    observation.text(found, scope)
    trust.strip(observation.trust_of(found))
    observation.figures(found)
    observation.contradicted_weight(found)
    st.plotly_chart(
        timeline(observation.happened(found), found.steps, *observation.span(found)),
        key="life",
        config=QUIET,
        alt="The observation's weight over time above everything that happened to it",
    )
    for tab, draw in zip(parts.tabs(list(PARTS)), PARTS.values(), strict=True):
        if tab.open:
            with tab:
                draw(found)
