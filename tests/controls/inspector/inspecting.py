"""A page of two panels, run inside the shell's frame: Why not, and Pins, over one retrieval."""

import streamlit as st

from controls import loading
from controls.access import current_principal
from controls.inspector import pins, why_not
from controls.inspector.pipeline import Chosen
from controls.scope import choose_scope
from controls.view import shown_to
from ranking.pipeline_text import from_text
from retrieval.retrieve import AgentSession, retrieve


def panels() -> None:
    """Both of them, where one organization is chosen."""
    principal = current_principal()
    scope = choose_scope(principal)
    if scope is None or scope.org is None:
        return
    with shown_to(principal, scope):
        memory = loading.memory()
        session = AgentSession(scope.org, project_id=scope.project)
        pipeline = st.query_params.get("pipeline")
        asked = st.query_params.get("q", "fix null pointer in auth middleware")
        found = retrieve(memory, session, asked, None if pipeline is None else from_text(pipeline))
        why_not.panel(found, memory)
        pins.panel(found, memory, Chosen(found.stages, "The present one", "lexical", own_budget=pipeline is not None))


# the panels link to the page of an observation, and only a page that there is can be linked to
st.navigation([st.Page(panels, default=True), st.Page("observation.py")], position="hidden").run()
