"""The waterfall: how one row's score came about, stage by stage."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from charts.look import DOWN, NEUTRAL, UP, finish, literal

if TYPE_CHECKING:
    import pandas as pd


def waterfall(bars: pd.DataFrame) -> go.Figure:
    """One bar per stage, as long as its delta is shown to be, and the sum at the end."""
    total = str(bars["score"].iloc[-1]).replace("-", "−") if len(bars) else "0.0000"
    stages = [*bars["stage"], "score"]
    deltas = [float(Decimal(delta)) for delta in bars["delta"]]
    sentences = [*(literal(text) for text in bars["sentence"]), "the sum of the bars"]
    figure = go.Figure(
        go.Waterfall(
            x=list(range(len(stages))),
            y=[*deltas, 0],
            measure=["relative"] * len(deltas) + ["total"],
            text=[*(_signed(delta) for delta in bars["delta"]), total],
            textposition="outside",
            cliponaxis=False,
            customdata=[[name, text] for name, text in zip(stages, sentences, strict=True)],
            hovertemplate="%{customdata[0]}: %{text}<br>%{customdata[1]}<extra></extra>",
            increasing={"marker": {"color": UP}},
            decreasing={"marker": {"color": DOWN}},
            totals={"marker": {"color": NEUTRAL}},
            connector={"line": {"color": NEUTRAL, "width": 1}},
        )
    )
    figure.update_xaxes(tickvals=list(range(len(stages))), ticktext=[name.replace(" ", "<br>") for name in stages])
    figure.update_yaxes(title="score", zeroline=True)
    finish(figure, _finding(bars, total), height=280)
    figure.update_layout(hovermode="closest", showlegend=False, xaxis={"fixedrange": True}, yaxis={"fixedrange": True})
    return figure


def _signed(delta: str) -> str:
    return "0" if not Decimal(delta) else delta.replace("-", "−")


def _finding(bars: pd.DataFrame, total: str) -> str:
    """The stage after the first that changed the score most."""
    later = [
        (abs(Decimal(delta)), stage, delta) for stage, delta in zip(bars["stage"][1:], bars["delta"][1:], strict=True)
    ]
    size, stage, delta = max(later, default=(Decimal(0), "", ""))
    if not size:
        return f"Score {total}: no stage after the first changed it"
    return f"Score {total}: {stage} changed it most, by {_signed(delta)}"
