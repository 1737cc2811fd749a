"""The observations that feedback moved most."""

from __future__ import annotations

import math
from itertools import chain

import pandas as pd
import streamlit as st

from controls import glossary, links
from controls.grid import grid
from controls.messages import climbed
from controls.opening import choose_to_open


def movers(moved: pd.DataFrame, *, drawn: bool = False) -> None:
    """The observations that feedback moved most: up on top, down below."""
    if drawn:
        st.caption("Counted in the retrievals that were drawn, and not estimated: what others moved is not known here.")
    if moved.empty:
        st.info("Feedback moved no observation in this selection.", icon=":material/search_off:")
        return
    top = max([1.0, *filter(math.isfinite, chain.from_iterable(weights or () for weights in moved["weights"]))])
    ups, downs = moved[moved["places"] > 0], moved[moved["places"] < 0].iloc[::-1]
    for name, words, rows in (("up", "▲ Moved up most", ups), ("down", "▼ Moved down most", downs)):
        texts = rows["text"].fillna("(no longer stored)")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{words}**, places summed over retrievals", width="content")
            labels = dict(zip(rows["observation_id"], texts, strict=True))
            choose_to_open(f"choose_{name}", "an observation", labels, links.open_observation)
        grid(
            pd.DataFrame(
                {
                    "open": "Open",
                    "text": texts,
                    "places": [climbed(up) for up in rows["places"]],
                    "retrievals": rows["retrievals"],
                    "ways": [f"▲{up} ▼{down}" for up, down in zip(rows["up"], rows["down"], strict=True)],
                    "weight": rows["weight"],
                    "weights": [list(weights or ()) for weights in rows["weights"]],
                }
            ),
            hide_index=True,
            key=f"movers_{name}",
            column_config={
                "open": links.open_column(
                    f"open_{name}", tuple(rows["observation_id"]), "observation.py", "observation"
                ),
                "places": st.column_config.TextColumn("Places", width=75),
                "retrievals": st.column_config.NumberColumn("Retrievals", width=85, format="localized"),
                "ways": st.column_config.TextColumn("Times", width=95, help=glossary.MOVED_TIMES),
                "weight": st.column_config.NumberColumn("Weight now", width=90, format="%.3g"),
                "weights": st.column_config.LineChartColumn(
                    f"Its last weights, 0 to {top:.3g}", width=150, y_min=0, y_max=top
                ),
                "text": st.column_config.TextColumn("Text", width=370),
            },
        )
