"""The sensitivity map: flips per 100 retrievals over λ and boost scale, and where the top 5 mostly stay."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from charts.look import DOWN, UP, finish

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

QUIET = "rgba(143, 163, 173, 0.12)"
ON_STRONG, STRONG = "#ffffff", 0.75
ALL_DIGITS = 100
HEIGHT = 540
CELL = 46  # pixels; a click anywhere in a cell finds its mark


def sensitivity(
    cells: pd.DataFrame,
    lambdas: Sequence[str],
    boosts: Sequence[str],
    chosen: tuple[str, str],
    safe: float,
    *,
    ink: str | None = None,
) -> go.Figure:
    """A cell per λ (left to right) and boost (upwards), ``cells`` having lam, boost, flips and kept by their labels.

    The number is flips per 100 retrievals, the teal frame encloses where at least ``safe`` keep their top 5, the dotted
    one is where the settings are. ``customdata`` of a mark names its cell. ``ink`` is the colour of figures on weak
    colours.
    """
    places = pd.MultiIndex.from_product([boosts, lambdas])
    flips, kept = (
        cells.set_index(["boost", "lam"])[name].reindex(places).to_numpy("float64").reshape(len(boosts), len(lambdas))
        for name in ("flips", "kept")
    )
    xs, ys = list(range(len(lambdas))), list(range(len(boosts)))
    marks = [(x, y) for y in ys for x in xs]
    most = max(1.0, float(pd.Series(flips.ravel()).max(skipna=True)))
    figure = go.Figure(
        [
            go.Heatmap(
                x=xs,
                y=ys,
                z=flips,
                colorscale=[[0, QUIET], [1, DOWN]],
                zmin=0,
                zmax=most,
                xgap=2,
                ygap=2,
                hoverinfo="skip",
                colorbar={"title": {"text": "flips per 100", "side": "right"}, "thickness": 10, "outlinewidth": 0},
            ),
            _border(kept >= safe),
            *_numbers(flips, most, ink),
            go.Scatter(
                x=[x for x, _ in marks],
                y=[y for _, y in marks],
                mode="markers",
                customdata=[[lambdas[x], boosts[y], _number(flips[y, x]), _number(100 * kept[y, x])] for x, y in marks],
                marker={"size": CELL, "symbol": "square", "color": "rgba(0, 0, 0, 0)"},
                selected={"marker": {"opacity": 0}},
                unselected={"marker": {"opacity": 0}},
                hovertemplate=(
                    "λ %{customdata[0]}, boost %{customdata[1]}<br>%{customdata[2]} flips per 100 retrievals<br>"
                    "%{customdata[3]} % keep their top 5<br>click to set both<extra></extra>"
                ),
            ),
        ]
    )
    if chosen[0] in lambdas and chosen[1] in boosts:
        _ring(figure, lambdas.index(chosen[0]), boosts.index(chosen[1]))
    figure.update_layout(showlegend=False)
    figure = finish(figure, _finding(flips, kept, safe), height=HEIGHT)
    figure.update_layout(hovermode="closest", clickmode="event+select", margin_t=78)
    # the title counts top fives, the cells flips: each says which
    figure.update_layout(
        title_subtitle={"text": "the number in a cell: flips per 100 retrievals", "font": {"size": 13}}
    )
    ticks = {"tickmode": "array", "zeroline": False, "fixedrange": True, "showgrid": False}
    figure.update_xaxes(
        **ticks,
        range=[-0.55, len(xs) - 0.45],
        tickvals=xs,
        ticktext=list(lambdas),
        title="λ: score alone (off) to more difference",
    )
    figure.update_yaxes(
        **ticks,
        tickvals=ys,
        ticktext=list(boosts),
        title="boost scale",
        rangemode="normal",
        range=[-0.55, len(ys) - 0.45],
    )
    return figure


def _finding(flips: npt.NDArray[np.float64], kept: npt.NDArray[np.float64], safe: float) -> str:
    """How many settings mostly keep the top 5, as the frame encloses them, and how many of them only repeat the log."""
    inside, same = int((kept >= safe).sum()), int(((flips == 0) & (kept == 1)).sum())
    how_many = f"All {inside}" if inside == kept.size > 1 else f"{inside or 'None'} of {kept.size}"
    keep = "keeps" if inside <= 1 else "keep"
    told = f"{how_many} settings {keep} {100 * safe:.3g} % of the top fives"
    if not same:
        return told
    every = {1: "", 2: "both "}.get(inside, "all ")
    who = every if same == inside else f"{same} of them "
    return f"{told}, {who}by changing nothing"


def _border(inside: npt.NDArray[np.bool_]) -> go.Scatter:
    """A line along every edge where a cell inside meets one outside, or the rim of the map."""
    padded = np.pad(inside, 1)
    xs: list[float | None] = []
    ys: list[float | None] = []
    for y, x in np.argwhere(padded[:, 1:] != padded[:, :-1]).tolist():
        xs, ys = [*xs, x - 0.5, x - 0.5, None], [*ys, y - 1.5, y - 0.5, None]
    for y, x in np.argwhere(padded[1:] != padded[:-1]).tolist():
        xs, ys = [*xs, x - 1.5, x - 0.5, None], [*ys, y - 0.5, y - 0.5, None]
    return go.Scatter(x=xs, y=ys, mode="lines", line={"width": 4, "color": UP}, hoverinfo="skip")


def _numbers(flips: npt.NDArray[np.float64], most: float, ink: str | None) -> list[go.Scatter]:
    """The figure in each cell: white on strong colour, elsewhere in ink, or in the theme's own."""
    strong = np.nan_to_num(flips) > STRONG * most
    traces = []
    for cells, font in ((~strong, ink and {"color": ink}), (strong, {"color": ON_STRONG})):
        ys, xs = np.nonzero(cells)
        words = [_number(value) for value in flips[cells]]
        traces.append(go.Scatter(x=xs, y=ys, mode="text", text=words, textfont=font, hoverinfo="skip"))
    return traces


def _number(value: float) -> str:
    """Three digits; a cell that could not be replayed has none."""
    return "—" if math.isnan(value) else f"{value:,.0f}" if value >= ALL_DIGITS else f"{value:.3g}"


def _ring(figure: go.Figure, x: int, y: int) -> None:
    figure.add_shape(
        type="rect",
        x0=x - 0.48,
        x1=x + 0.48,
        y0=y - 0.48,
        y1=y + 0.48,
        line={"width": 2, "color": "rgb(143, 163, 173)", "dash": "dot"},
    )
