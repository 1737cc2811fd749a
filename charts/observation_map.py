"""A map of observations on which what is alike lies close: dots for those alone, marks for those in a cluster."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from charts.agreement import KINDS
from charts.look import DEGRADED, FAINT, finish

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

ACROSS, DOWNWARDS = 72, 44  # cells in which observations that are alone are counted
SOLID = 1.0  # marks are not seen through: the ground would take from their contrast
MARKS = 2_500  # a browser draws so many without a pause


def observation_map(
    alone: pd.DataFrame,
    marks: pd.DataFrame,
    opened: str | None,
    area: Sequence[tuple[float, float]],
    title: str,
    *,
    drags: bool = False,
) -> go.Figure:
    """Observations by place, ``alone`` having x and y; ``marks`` x, y, count, kind, cluster (its canonical's id), text.

    Many in one place are one dot, larger the more they are: as single points ten thousand would stop the browser.
    Where someone ``drags`` around some, a click tells nothing.
    """
    cells = _counted(alone)
    figure = go.Figure(
        go.Scatter(
            x=cells["x"],
            y=cells["y"],
            mode="markers",
            name="in no cluster",
            marker={"size": [4 + 2.2 * math.log2(count) for count in cells["count"]], "color": FAINT},
            customdata=[["", count, ""] for count in cells["count"]],
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
            hovertemplate="%{customdata[1]:,} here in no cluster<extra></extra>",
        )
    )
    for kind, (words, colour, symbol) in KINDS.items():
        mine = marks[marks["kind"] == kind]
        if len(mine):
            figure.add_trace(
                go.Scatter(
                    x=mine["x"],
                    y=mine["y"],
                    mode="markers",
                    name=words,
                    marker={
                        "size": [7 + 3 * math.log2(count) for count in mine["count"]],
                        "color": colour,
                        "symbol": symbol,
                        "opacity": SOLID,
                    },
                    selected={"marker": {"opacity": SOLID}},
                    unselected={"marker": {"opacity": SOLID}},
                    customdata=mine[["cluster", "count", "text"]].to_numpy().tolist(),
                    hovertemplate="%{customdata[2]}<br>%{customdata[1]:,} of its cluster here<extra></extra>",
                )
            )
    ring = marks[marks["cluster"] == opened]
    if len(ring):
        figure.add_trace(
            go.Scatter(
                x=ring["x"], y=ring["y"], mode="markers", name="opened", hoverinfo="skip",
                marker={"size": 22, "color": "rgba(0,0,0,0)", "line": {"width": 3, "color": DEGRADED}},
            )
        )  # fmt: skip
    if area:
        corners = [*area, area[0]]
        figure.add_trace(
            go.Scatter(
                x=[x for x, _ in corners], y=[y for _, y in corners], mode="lines", name="area", hoverinfo="skip",
                line={"color": DEGRADED, "width": 2, "dash": "dot"},
            )
        )  # fmt: skip
    finish(figure, title, height=520)
    figure.update_layout(hovermode="closest", dragmode="lasso" if drags else False, showlegend=True)
    bare = {"visible": False, "range": [-0.03, 1.03], "fixedrange": True}
    figure.update_xaxes(**bare)
    figure.update_yaxes(**bare, rangemode="normal")
    return figure


def _counted(alone: pd.DataFrame) -> pd.DataFrame:
    """Observations counted per cell, at their mean place."""
    column, row = (alone["x"] * ACROSS).astype(int), (alone["y"] * DOWNWARDS).astype(int)
    grouped = alone.groupby([column.rename("column"), row.rename("row")])
    return grouped[["x", "y"]].mean().assign(count=grouped.size()).reset_index(drop=True)
