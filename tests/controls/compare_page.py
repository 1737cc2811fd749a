"""The Compare panel alone, inside a view set up as the shell does it: for the tests of the panel and of the worker."""

from datetime import UTC, datetime

import streamlit as st

from controls import compare, loading
from controls.access import current_principal
from controls.pipeline import LABELS
from controls.view import shown_to
from queries.scope import Scope
from retrieval.pipelines import named_pipeline
from retrieval.retrieve import AgentSession, retrieve

st.set_page_config(layout="wide")
principal = current_principal()
today = datetime.now(UTC).date()
said = st.query_params
scope = Scope.of_days(principal.reach, today, today, said.get("org", "acme"))
with shown_to(principal, scope):
    memory = loading.memory()
    st.text(f"run at {datetime.now(UTC):%H:%M:%S.%f}")
    st.button("Something else")
    question = said.get("q", "fix null pointer in auth middleware")
    # the present is the full minute, as on the page
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    moment = datetime.fromisoformat(said["now"]) if "now" in said else now
    session = AgentSession(scope.org or "")
    found = retrieve(memory, session, question, named_pipeline(preset=said.get("preset", "LIVE")), moment)
    compare.panel(found, memory, LABELS[said.get("preset", "LIVE")])
