"""A page that offers one file; two tenants' files differ only where Streamlit does not look."""

import streamlit as st

from controls.downloads import download
from tests.controls.tenant_file import tenant_file

tenant = st.query_params.get("tenant", "")
offered = download("drift", "csv")
st.download_button("Download", offered.of(lambda: tenant_file(tenant)), offered.name, "text/csv", on_click="ignore")
