"""The opposition pairs alone, of the organization that the address names."""

from datetime import UTC, datetime

import streamlit as st

from controls.access import current_principal
from controls.drift.pairs import pairs
from queries.scope import Reach, Scope

day, org = datetime(2026, 3, 1, tzinfo=UTC).date(), st.query_params["org"]
st.session_state.setdefault("pairs_open", True)
pairs(Scope.of_days(Reach((org,)), day, day, org), current_principal())
