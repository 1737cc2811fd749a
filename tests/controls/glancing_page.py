"""A page that glances at the task its address names and goes on without it, among tasks made for tests."""

import json
from datetime import datetime

import streamlit as st

from controls import working
from controls.access import current_principal
from jobs import worker_pool
from queries.scope import Scope

worker_pool.REGISTRY = "tests.jobs.worker_tasks"
day = datetime.fromisoformat("2026-03-01").date()
asked = (
    st.query_params["task"],
    json.loads(st.query_params.get("params", "{}")),
    Scope.of_days(current_principal().reach, day, day),
)
working.begin(*asked)
st.json({"value": working.glance(*asked), "failure": working.failure(*asked)})
