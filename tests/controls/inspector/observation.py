"""Where the links of the two panels lead, in the place of the Observation page."""

import streamlit as st

st.text(st.query_params["observation"])
