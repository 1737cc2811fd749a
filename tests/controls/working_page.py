"""A page that waits for the task its address names, among tasks made for tests."""

import json
from datetime import UTC, datetime

import streamlit as st

from controls import working
from controls.access import current_principal
from jobs import worker_pool
from queries.scope import Scope

worker_pool.REGISTRY = "tests.jobs.worker_tasks"
said = st.query_params
day = datetime.fromisoformat("2026-03-01").date()
scope = Scope.of_days(current_principal().reach, day, day, said.get("org"))
st.button("Something else")
st.text(f"drawn {datetime.now(UTC):%H:%M:%S.%f}")
value = working.wait(said["task"], json.loads(said.get("params", "{}")), scope, words="Working")
if value is not None:
    st.json({"value": value})
