"""A page of two panels, run inside the shell's frame: Why not, and Pins, over one retrieval."""

import streamlit as st

from controls import loading, pins, why_not
from controls.access import current_principal
from controls.scope import choose_scope
from controls.view import shown_to
from ranking.pipeline_text import from_text
from retrieval.retrieve import AgentSession, retrieve

principal = current_principal()
scope = choose_scope(principal)
if scope is not None and scope.org is not None:
    with shown_to(principal, scope):
        memory = loading.memory()
        session = AgentSession(scope.org, project_id=scope.project)
        pipeline = st.query_params.get("pipeline")
        asked = st.query_params.get("q", "fix null pointer in auth middleware")
        found = retrieve(memory, session, asked, None if pipeline is None else from_text(pipeline))
        why_not.panel(found, memory)
        pins.panel(found, memory)
