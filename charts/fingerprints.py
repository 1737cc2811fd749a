"""Why members of a cluster are near: their 64 bits as strips, and how far apart any two of them are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from charts.look import DOWN, FAINT, finish

if TYPE_CHECKING:
    from collections.abc import Sequence

BITS = 64
ROW = 22  # pixels
UNSET = "rgba(143, 163, 173, 0.12)"
ON_STRONG, STRONG = "#ffffff", 0.6


def bit_strips(bits: Sequence[Sequence[int]], labels: Sequence[str], title: str) -> go.Figure:
    """A strip per fingerprint, the canonical first: filled where a bit is set, crossed where it differs from it."""
    rows = list(range(len(bits)))
    differs = [[int(bit != first) for bit, first in zip(strip, bits[0], strict=True)] for strip in bits]
    shades = [
        [2 if other else bit for bit, other in zip(strip, changed, strict=True)]
        for strip, changed in zip(bits, differs, strict=True)
    ]
    crosses = [(place, row) for row in rows for place in range(BITS) if differs[row][place]]
    scale = [[0, UNSET], [1 / 3, UNSET], [1 / 3, FAINT], [2 / 3, FAINT], [2 / 3, DOWN], [1, DOWN]]
    figure = go.Figure(
        [
            go.Heatmap(
                z=shades, x=list(range(BITS)), y=rows, zmin=0, zmax=2, colorscale=scale, showscale=False, xgap=1,
                ygap=3,
                customdata=[[[bit, labels[row]] for bit in bits[row]] for row in rows],
                hovertemplate="%{customdata[1]}, bit %{x}: %{customdata[0]}<extra></extra>",
            ),
            go.Scatter(
                x=[place for place, _ in crosses], y=[row for _, row in crosses], mode="markers", hoverinfo="skip",
                marker={"symbol": "x-thin", "size": 7, "line": {"width": 1.5, "color": ON_STRONG}},
            ),
        ]
    )  # fmt: skip
    finish(figure, title, height=96 + ROW * len(rows))
    figure.update_layout(showlegend=False, hovermode="closest")
    figure.update_xaxes(title="bit, highest first", tickvals=[0, 15, 31, 47, 63], fixedrange=True, zeroline=False)
    figure.update_yaxes(
        tickvals=rows, ticktext=list(labels), autorange="reversed", fixedrange=True, zeroline=False, rangemode="normal"
    )
    return figure


def distance_matrix(
    distances: Sequence[Sequence[float]], labels: Sequence[str], threshold: float, words: str, title: str
) -> go.Figure:
    """How far apart any two members are; what lies beyond the threshold is coloured and marked with an exclamation."""
    count = len(labels)
    cells = [(row, column) for row in range(count) for column in range(count) if row != column]
    beyond = {(row, column) for row, column in cells if distances[row][column] > threshold}
    most = max((distances[row][column] for row, column in cells), default=1.0) or 1.0
    shades = [
        [distances[row][column] / most if (row, column) in beyond else 0.0 for column in range(count)]
        for row in range(count)
    ]
    figure = go.Figure(
        go.Heatmap(
            z=shades, zmin=0, zmax=1, colorscale=[[0, UNSET], [1, DOWN]], showscale=False, xgap=2, ygap=2,
            customdata=[
                [[labels[row], labels[column], distances[row][column]] for column in range(count)]
                for row in range(count)
            ],
            hovertemplate=f"%{{customdata[0]}} and %{{customdata[1]}}: %{{customdata[2]:.3g}} {words}<extra></extra>",
        )
    )  # fmt: skip
    for strong, font in ((False, None), (True, {"color": ON_STRONG})):
        mine = [cell for cell in cells if (shades[cell[0]][cell[1]] > STRONG) is strong]
        figure.add_trace(
            go.Scatter(
                x=[column for _, column in mine], y=[row for row, _ in mine], mode="text", textfont=font,
                text=[_told(distances[row][column], mark=(row, column) in beyond) for row, column in mine],
                hoverinfo="skip",
            )
        )  # fmt: skip
    size = 110 + max(26, min(34, 420 // max(count, 1))) * count
    finish(figure, title, height=size)
    figure.update_layout(showlegend=False, hovermode="closest")
    places = list(range(count))
    figure.update_xaxes(tickvals=places, ticktext=list(labels), tickangle=45, fixedrange=True, zeroline=False)
    figure.update_yaxes(
        tickvals=places,
        ticktext=list(labels),
        autorange="reversed",
        fixedrange=True,
        zeroline=False,
        rangemode="normal",
    )
    return figure


def _told(distance: float, *, mark: bool) -> str:
    return f"{distance:.2g}{'!' if mark else ''}"
