"""Alerts over time and how old the open ones are; how often alerts were confirmed, by threshold."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from charts.look import DEGRADED, DISPUTED, DOWN, FAINT, NEUTRAL, UP, finish

if TYPE_CHECKING:
    import pandas as pd

SHADES = (FAINT, NEUTRAL, DEGRADED, DOWN)  # the longer an alert waits, the louder


def trends(days: pd.DataFrame, ages: tuple[str, ...]) -> go.Figure:
    """Above, alerts by the day they arose (``day, arisen``); below, those open as each day ends, a column per age."""
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.4, 0.6], vertical_spacing=0.1)
    figure.add_trace(
        go.Bar(
            x=days["day"],
            y=days["arisen"],
            marker={"color": DISPUTED, "line": {"width": 0}},
            showlegend=False,
            hovertemplate="%{x|%-d %b}: %{y:,} arose<extra></extra>",
        ),
        row=1,
        col=1,
    )
    for name, colour in zip(ages, SHADES, strict=True):
        figure.add_trace(
            go.Bar(
                x=days["day"],
                y=days[name],
                name=name,
                marker={"color": colour, "line": {"width": 0}},
                hovertemplate=f"%{{x|%-d %b}}: %{{y:,}} open for {name}<extra></extra>",
            ),
            row=2,
            col=1,
        )
    waiting = int(days[list(ages)].iloc[-1].sum()) if len(days) else 0
    old = int(days[list(ages[2:])].iloc[-1].sum()) if len(days) else 0
    title = f"{waiting:,} open, {old:,} of them for over 30 days"
    finish(figure, title, height=420)
    figure.update_layout(barmode="stack", bargap=0.15, legend={"y": -0.08, "yanchor": "top", "x": 0, "xanchor": "left"})
    figure.update_yaxes(row=1, title="arose", tickformat=",d", nticks=4)
    figure.update_yaxes(row=2, title="open, by age", tickformat=",d", nticks=5)
    figure.update_xaxes(tickformat="%-d %b")
    return figure


def precision_curve(shares: pd.DataFrame, threshold: float) -> go.Figure:
    """Share of judged alerts that were confirmed (``threshold, share, low, high, judged``), the chosen one marked."""
    known = shares.dropna(subset=["share"])
    figure = go.Figure()
    if len(known):
        band = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
        figure.add_trace(go.Scatter(x=known["threshold"], y=known["high"], **band))
        figure.add_trace(go.Scatter(x=known["threshold"], y=known["low"], fill="tonexty", fillcolor=FAINT, **band))
        figure.add_trace(
            go.Scatter(
                x=known["threshold"],
                y=known["share"],
                mode="lines+markers",
                line={"color": UP, "width": 2},
                marker={"size": 6},
                customdata=known[["low", "high", "judged"]],
                hovertemplate=(
                    "from %{x:.2f}: %{y:.0%} confirmed (95 %: %{customdata[0]:.0%} to %{customdata[1]:.0%}), "
                    "n = %{customdata[2]}<extra></extra>"
                ),
                showlegend=False,
            )
        )
    figure.add_vline(x=threshold, line={"color": NEUTRAL, "width": 2, "dash": "dot"})
    finish(figure, _precision_finding(shares, threshold), height=160)
    figure.update_layout(margin={"l": 8, "r": 8, "t": 34, "b": 8}, hovermode="closest", title={"font": {"size": 13}})
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%", tickvals=[0, 0.5, 1], fixedrange=True)
    figure.update_xaxes(
        range=[shares["threshold"].min() - 0.02, shares["threshold"].max() + 0.02], fixedrange=True, nticks=5
    )
    return figure


def _precision_finding(shares: pd.DataFrame, threshold: float) -> str:
    here = shares[shares["threshold"] <= threshold + 1e-9].iloc[-1]
    judged = int(here["judged"])
    if isnan(here["share"]):
        return f"Collecting verdicts: {judged:,} so far"
    return f"{here['share']:.0%} confirmed ({here['low']:.0%}–{here['high']:.0%}, n = {judged:,})"
