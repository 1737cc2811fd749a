"""Clusters in numbers: what every threshold would find, how large they are, and what their boosts come to."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from charts.look import DEGRADED, DISPUTED, DOWN, FAINT, NEUTRAL, UP, counted, finish

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

NOTHING = 0.5  # where a logarithmic axis shows none
TICKS = {NOTHING: "0", 1: "1", 10: "10", 100: "100", 1_000: "1,000", 10_000: "10,000"}
LINES = (("alone", "alone", NEUTRAL), ("clusters", "clusters", UP), ("largest", "largest", DOWN))
KINDS = {
    "independent": ("independent", UP, "circle"),
    "repeated": ("self-repetition", NEUTRAL, "square"),
    "disputed": ("✕ disputed", DISPUTED, "x"),
}
UPPER, APART = 160, 14  # pixels: the height of the upper picture, and a line of text in it
MANY = 10  # members from which on sizes share one place; below it every size has its own
SIZES = (*map(str, range(2, MANY)), f"{MANY} or more")


def threshold_sweep(points: pd.DataFrame, chosen: int, cliff: int | None, unit: str, title: str) -> go.Figure:
    """What every threshold finds, ``points`` having label, clusters, alone, largest and share (0–1, or missing).

    ``chosen`` and ``cliff`` are places in it; ``customdata`` of a mark is its label, so that a click can name it.
    """
    places, labels = list(range(len(points))), points["label"].tolist()
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.68, 0.32], vertical_spacing=0.09)
    for name, words, colour in LINES:
        told = [list(point) for point in zip(labels, points[name].tolist(), strict=True)]
        heights = [max(value, NOTHING) for _, value in told]
        figure.add_trace(_line(told, heights, words, colour, "%{customdata[1]:,}"), row=1, col=1)
    low, high = math.log10(NOTHING) - 0.1, _top(points)
    ends = [math.log10(max(points[name].iloc[-1], NOTHING)) for name, *_ in LINES]
    for (_, words, _), height in zip(LINES, _apart(ends, APART * (high - low) / UPPER), strict=True):
        _name(figure, words, len(points) - 1, height, 1)
    shares = [None if value is None or math.isnan(value) else 100 * value for value in points["share"].tolist()]
    told = [list(point) for point in zip(labels, shares, strict=True)]
    figure.add_trace(_line(told, shares, "boosted", DEGRADED, "%{customdata[1]:.3g} % of retrievals"), row=2, col=1)
    if shares[-1] is not None:
        _name(figure, "boosted", len(points) - 1, shares[-1], 2)
    finish(figure, title, height=420)
    if cliff is not None:
        figure.add_vrect(x0=cliff - 1, x1=cliff, fillcolor=DOWN, opacity=0.13, line_width=0)
        figure.add_annotation(
            x=cliff - 0.5, y=1.0, yref="paper", text="clusters run together", showarrow=False, yanchor="bottom",
            font={"color": DOWN, "size": 12},
        )  # fmt: skip
    figure.add_vline(x=chosen, line={"width": 2, "dash": "dot", "color": NEUTRAL})
    figure.add_annotation(
        x=chosen, y=1.0, yref="paper", text=f"now {labels[chosen]}", showarrow=False, yanchor="bottom",
        yshift=16 if cliff is not None and abs(cliff - 0.5 - chosen) < len(places) / 6 else 0, font={"size": 12},
    )  # fmt: skip
    figure.update_layout(
        showlegend=False, hovermode="closest", clickmode="event+select", title_y=0.94, margin={"t": 92, "r": 66}
    )
    figure.update_xaxes(fixedrange=True, range=[-0.4, len(places) - 0.6], zeroline=False)
    every = slice(None, None, 2)  # all of them would not fit a narrow window
    figure.update_xaxes(title=unit, tickvals=places[every], ticktext=labels[every], tickangle=0, row=2, col=1)
    figure.update_yaxes(
        type="log", tickmode="array", tickvals=list(TICKS), ticktext=list(TICKS.values()), fixedrange=True,
        range=[low, high], rangemode="normal", row=1, col=1,
    )  # fmt: skip
    figure.update_yaxes(title="% of retrievals", range=[0, 105], tickvals=[0, 50, 100], fixedrange=True, row=2, col=1)
    return figure


def _line(points: list[list[Any]], ys: Sequence[float | None], words: str, colour: str, shown: str) -> go.Scatter:
    """One line; ``points`` are the labels and what is told of each."""
    return go.Scatter(
        x=list(range(len(points))),
        y=list(ys),
        mode="lines+markers",
        cliponaxis=False,
        name=words,
        line={"color": colour, "width": 2},
        marker={"size": 7, "color": colour},
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
        customdata=points,
        hovertemplate=f"%{{customdata[0]}}: {words} {shown}<extra></extra>",
    )


def _top(points: pd.DataFrame) -> float:
    """Where the logarithmic axis ends: a little above the highest line."""
    return math.log10(max(10, *points["alone"].tolist(), *points["largest"].tolist())) + 0.15


def _apart(heights: Sequence[float], gap: float) -> list[float]:
    """Where names of lines stand: at their ends, and those that would overlap a gap apart around their middle.

    What ends at the same height keeps its order, the first on top.
    """
    upwards = sorted(range(len(heights)), key=lambda each: (heights[each], -each))
    runs: list[list[float]] = []  # each with what its names are without the gaps below them
    for place, each in enumerate(upwards):
        runs.append([heights[each] - place * gap])
        while len(runs) > 1 and fmean(runs[-2]) > fmean(runs[-1]):
            runs[-2:] = [runs[-2] + runs[-1]]
    level = [fmean(run) for run in runs for _ in run]
    stands = dict(zip(upwards, (at + place * gap for place, at in enumerate(level)), strict=True))
    return [stands[each] for each in range(len(heights))]


def _name(figure: go.Figure, words: str, place: int, height: float, row: int) -> None:
    """A line's name at its end, in the colour of all text: none of the lines' own can be read on both grounds."""
    figure.add_annotation(
        x=place, y=height, text=words, showarrow=False, xanchor="left", xshift=8, font={"size": 12}, row=row, col=1
    )


def cluster_sizes(clusters: pd.DataFrame, title: str) -> go.Figure:
    """Which share of clusters has how many members, ``clusters`` having size and kind; the share above each place.

    Shares, and a place for every size up to nine, then one for all that are larger: the axes are the same at every
    threshold, and bars move with the slider. A place that no cluster has says 0.
    """
    sizes, kinds = clusters["size"].tolist(), clusters["kind"].tolist()
    many = [size for size in sizes if size >= MANY]
    last = " to ".join(f"{size:,}" for size in sorted({min(many), max(many)})) if many else SIZES[-1]
    told = [f"{size} members" for size in (*SIZES[:-1], last)]
    figure = go.Figure()
    for kind, (words, colour, _) in KINDS.items():
        mine = _places([size for size, its in zip(sizes, kinds, strict=True) if its == kind])
        if any(mine):
            figure.add_trace(
                go.Bar(
                    x=SIZES,
                    y=[100 * count / len(sizes) for count in mine],
                    name=words,
                    marker={"color": colour, "line": {"width": 0}, "pattern": {"shape": _pattern(kind)}},
                    customdata=list(zip(told, mine, strict=True)),
                    hovertext=[counted(count, "cluster") for count in mine],
                    hovertemplate=f"%{{customdata[0]}}, {words}: %{{hovertext}}, %{{y:.3g}} %<extra></extra>",
                )
            )
    shares = [100 * count / len(sizes) for count in _places(sizes)]
    figure.add_trace(
        go.Scatter(
            x=SIZES, y=shares, text=[f"{share:.3g}" for share in shares], mode="text", textposition="top center",
            textfont={"size": 12}, cliponaxis=False, hoverinfo="skip", showlegend=False,
        )
    )  # fmt: skip
    figure.update_layout(barmode="stack", bargap=0.3, showlegend=True)
    finish(figure, title, height=320)
    figure.update_xaxes(
        title="members", type="category", categoryorder="array", categoryarray=SIZES, range=[-0.6, len(SIZES) - 0.4],
        fixedrange=True, tickangle=0, tickvals=SIZES, ticktext=[size.replace(" or ", " or<br>") for size in SIZES],
    )  # fmt: skip
    figure.update_yaxes(title="% of clusters", fixedrange=True, range=[0, 108], tickvals=[0, 25, 50, 75, 100])
    return figure


def _places(sizes: list[int]) -> list[int]:
    """How many there are at each place of the axis."""
    return [*(sizes.count(size) for size in range(2, MANY)), sum(size >= MANY for size in sizes)]


def _pattern(kind: str) -> str:
    return {"repeated": "/", "disputed": "x"}.get(kind, "")


def boost_curve(clusters: pd.DataFrame, scale: float, title: str) -> go.Figure:
    """The boost over voices, and where clusters sit on it; ``clusters`` has others and other_agents."""
    most = max(4, int(clusters["others"].max()) if len(clusters) else 0)
    steps = [most * step / 80 for step in range(81)]
    figure = go.Figure(
        go.Scatter(
            x=steps, y=[scale * math.log2(1 + step) for step in steps], mode="lines", name="boost",
            line={"color": FAINT, "width": 3}, hoverinfo="skip", showlegend=False,
        )
    )  # fmt: skip
    for name, words, colour, symbol in (
        ("others", "by members, as configured", UP, "circle"),
        ("other_agents", "by other agents only", NEUTRAL, "square-open"),
    ):
        counts = clusters[name].value_counts().sort_index()
        figure.add_trace(
            go.Scatter(
                x=counts.index.tolist(),
                y=[scale * math.log2(1 + count) for count in counts.index],
                mode="markers",
                name=words,
                marker={
                    "size": [8 + 5 * math.log2(1 + count) for count in counts],
                    "color": colour,
                    "symbol": symbol,
                    "opacity": 0.75,
                    "line": {"width": 2 if symbol.endswith("open") else 0, "color": colour},
                },
                cliponaxis=False,
                customdata=counts.tolist(),
                text=[counted(int(others), "other") for others in counts.index],
                hovertext=[counted(int(count), "cluster") for count in counts],
                hovertemplate=f"%{{text}}, {words}: +%{{y:.3g}}, %{{hovertext}}<extra></extra>",
            )
        )
    finish(figure, title, height=320)
    figure.update_layout(hovermode="closest", legend={"itemsizing": "constant"})
    # marks at nothing are whole: what labels the axes stands beside them
    top = scale * math.log2(1 + most) or 1.0
    figure.update_xaxes(title="other voices", fixedrange=True, range=[-0.08 * most, 1.06 * most])
    figure.update_yaxes(title="boost", fixedrange=True, range=[-0.1 * top, 1.12 * top], rangemode="normal")
    return figure
