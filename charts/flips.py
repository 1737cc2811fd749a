"""Which observations would enter and leave blocks most often, and how sessions ended around a switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from charts.compared import shortened
from charts.look import DOWN, NEUTRAL, UP, count_axis, counted, finish, finish_wrapped, literal

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 64  # characters of a text beside its bars
ROW = 26  # pixels


def movers(observations: pd.DataFrame, title: str) -> go.Figure:
    """Bars per observation, ``observations`` having id, text, entered and left: in to the right, out to the left."""
    labels = [literal(shortened(text, WIDTH)) for text in observations["text"]]
    places = list(range(len(labels)))
    figure = go.Figure(
        [
            go.Bar(
                y=places,
                x=observations[name] * sign,
                orientation="h",
                name=words,
                marker={"color": colour, "line": {"width": 0}},
                customdata=[[text, count] for text, count in zip(labels, observations[name], strict=True)],
                hovertext=[counted(int(count), "block") for count in observations[name]],
                hovertemplate=f"%{{customdata[0]}}<br>{words} %{{hovertext}}<extra></extra>",
            )
            for name, words, sign, colour in (("left", "▼ leaves", -1, DOWN), ("entered", "▲ enters", 1, UP))
        ]
    )
    figure.update_layout(barmode="relative", bargap=0.35)
    figure = finish(figure, title, height=90 + ROW * max(len(labels), 1))
    figure.update_layout(hovermode="closest")
    across = observations["left"].max() + observations["entered"].max()
    figure.update_xaxes(title="blocks", zeroline=True, fixedrange=True, **count_axis(across))
    figure.update_yaxes(
        tickmode="array", tickvals=places, ticktext=labels, autorange="reversed", fixedrange=True, rangemode="normal",
        automargin=True,
    )  # fmt: skip
    return figure


def around_the_switch(weeks: pd.DataFrame, switched: str, title: str) -> go.Figure:
    """Accepted share by week, ``weeks`` having begins, on, sessions and accepted; the switch is drawn."""
    share = 100 * weeks["accepted"] / weeks["sessions"]
    figure = go.Figure(
        go.Scatter(
            x=weeks["begins"],
            y=share,
            mode="lines+markers",
            line={"color": NEUTRAL},
            marker={
                "size": 9,
                "color": NEUTRAL,
                "symbol": ["circle" if on else "circle-open" for on in weeks["on"]],
            },
            customdata=weeks[["sessions", "accepted"]],
            hovertemplate="week from %{x|%-d %b}: %{y:.3g} % accepted<br>%{customdata[1]} of %{customdata[0]} sessions"
            "<extra></extra>",
            showlegend=False,
        )
    )
    for when, on in zip(("before the switch", "after it"), weeks["on"].iloc[[0, -1]], strict=True):
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=f"{when}: {'on' if on else 'off'}",
            marker={"size": 9, "color": NEUTRAL, "symbol": "circle" if on else "circle-open"},
        )
    figure.add_vline(x=switched, line={"width": 1, "dash": "dot", "color": NEUTRAL})
    figure.add_annotation(
        x=switched, y=1, yref="paper", text="switched", showarrow=False, xanchor="left", yanchor="top"
    )
    finish_wrapped(figure, title, 230)
    figure.update_xaxes(tickformat="%-d %b", fixedrange=True)
    figure.update_yaxes(title="accepted, %", range=[0, 104], tickvals=[0, 50, 100], fixedrange=True)
    return figure
