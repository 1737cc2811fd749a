"""A page of nothing but tenant text, in the places where the house puts it; the texts stand in a file."""

import json
import os
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st

from charts.look import literal

texts = json.loads(Path(os.environ["TEXTS_FILE"]).read_text(encoding="utf-8"))
for text in texts:
    st.text(text)
short = [text for text in texts if len(text) <= 3_000]
st.plotly_chart(
    go.Figure(
        go.Scatter(x=[0] * len(short), y=list(range(len(short))), mode="text", text=[f"[{literal(t)}]" for t in short])
    )
)
