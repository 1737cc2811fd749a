"""Alerts over time and how old the open ones are; how often alerts were confirmed, by threshold."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from charts.look import DEGRADED, DISPUTED, DOWN, FAINT, NEUTRAL, UP, count_axis, finish

if TYPE_CHECKING:
    import pandas as pd

FOOT = 76  # pixels below the axis: a line of dates, and a legend of two lines where it is narrow
SHADES = (FAINT, NEUTRAL, DEGRADED, DOWN)  # the longer an alert waits, the louder


def trends(days: pd.DataFrame, ages: tuple[str, ...]) -> go.Figure:
    """Above, alerts by the day they arose (``day, arisen``); below, those open as each day ends, a column per age."""
    arose, bars = int(days["arisen"].max()) if len(days) else 0, []
    if arose:
        bars.append(
            go.Bar(
                x=days["day"],
                y=days["arisen"],
                marker={"color": DISPUTED, "line": {"width": 0}},
                showlegend=False,
                hovertemplate="%{x|%-d %b}: %{y:,} arose<extra></extra>",
            )
        )
    for name, colour in zip(ages, SHADES, strict=True):
        bars.append(
            go.Bar(
                x=days["day"],
                y=days[name],
                yaxis="y2",
                name=name,
                marker={"color": colour, "line": {"width": 0}},
                hovertemplate=f"%{{x|%-d %b}}: %{{y:,}} open for {name}<extra></extra>",
            )
        )
    most = int(days[list(ages)].sum(axis=1).max()) if len(days) else 0
    # both above one axis of days, all said at once: each later update of a figure costs more than its bars
    figure = go.Figure(
        bars,
        {
            "barmode": "stack",
            "bargap": 0.15,
            "xaxis": {"anchor": "y2", "tickformat": "%-d %b"},
            "yaxis": {"domain": [0.64, 1], "title": {"text": "arose"}, "visible": bool(arose), **count_axis(arose, 4)},
            "yaxis2": {"domain": [0, 0.54 if arose else 1], "title": {"text": "open, by age"}, **count_axis(most, 5)},
        },
    )
    waiting = int(days[list(ages)].iloc[-1].sum()) if len(days) else 0
    old = int(days[list(ages[2:])].iloc[-1].sum()) if len(days) else 0
    said = f"{waiting:,} open, {old:,} of them for over 30 days" + ("" if arose else "; none arose")
    finish(figure, said, height=420 if arose else 300)
    # by the foot of the picture, not by its axes: those are measured anew when it widens, the legend beside them is not
    figure.layout.legend.update(yref="container", y=0, yanchor="bottom", x=0, xanchor="left")
    figure.layout.margin.update(b=FOOT)
    return figure


def precision_curve(shares: pd.DataFrame, threshold: float) -> go.Figure:
    """Share of judged alerts that were confirmed (``threshold, share, low, high, judged``), the chosen one marked."""
    known, lines = shares.dropna(subset=["share"]), []
    if len(known):
        band = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
        lines = [
            go.Scatter(x=known["threshold"], y=known["high"], **band),
            go.Scatter(x=known["threshold"], y=known["low"], fill="tonexty", fillcolor=FAINT, **band),
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
            ),
        ]
    here = {"type": "line", "x0": threshold, "x1": threshold, "yref": "y domain", "y0": 0, "y1": 1}
    ends = [shares["threshold"].min() - 0.02, shares["threshold"].max() + 0.02]
    figure = go.Figure(
        lines,
        {
            "shapes": [here | {"line": {"color": NEUTRAL, "width": 2, "dash": "dot"}}],
            "yaxis": {"range": [0, 1.02], "tickformat": ".0%", "tickvals": [0, 0.5, 1], "fixedrange": True},
            "xaxis": {"range": ends, "fixedrange": True, "nticks": 5},
        },
    )
    finish(figure, _precision_finding(shares, threshold), height=160)
    figure.layout.update(margin={"t": 34}, hovermode="closest", title={"font": {"size": 13}})
    return figure


def _precision_finding(shares: pd.DataFrame, threshold: float) -> str:
    here = shares[shares["threshold"] <= threshold + 1e-9].iloc[-1]
    judged = int(here["judged"])
    if isnan(here["share"]):
        return f"Collecting verdicts: {judged:,} so far"
    return f"{here['share']:.0%} confirmed ({here['low']:.0%}–{here['high']:.0%}, n = {judged:,})"
