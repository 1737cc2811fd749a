"""The Compare panel alone, inside a view set up as the shell does it: for the tests of the panel and of the worker."""

from datetime import UTC, datetime

import streamlit as st

from controls import loading
from controls.access import current_principal
from controls.inspector import compare
from controls.inspector.pipeline import Chosen
from controls.inspector.presets import LABELS
from controls.inspector.question import Asked
from controls.view import shown_to
from queries.scope import Scope
from ranking.presets import PRESETS
from retrieval.pipelines import Flags
from retrieval.retrieve import AgentSession, rank_recollection

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
    preset, bits = said.get("preset", "LIVE"), int(said["bits"]) if "bits" in said else None
    session = AgentSession(scope.org or "", work_type=said.get("work_type"))
    asked = Asked(session, question, Flags(weighting=said.get("weighting") != "off"), moment)
    present = Chosen(asked.fit(PRESETS[preset]), LABELS[preset], "neural", bits)
    recollection = loading.recollected(scope, session, question, present.stages, at=moment, bits=bits)
    found = rank_recollection(memory, recollection, present.stages)
    compare.panel(found, asked, memory, present)
