"""Where feedback moved candidates: a map of both ranks, and how far they moved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from charts.look import DEGRADED, DOWN, NEUTRAL, UP, count_axis, counted, finish

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

MOST_RANKS = 30  # a pool holds 20; what stands deeper is in the title's share, and counted by ``outside_the_map``
UP_SCALE = [[0, "rgba(27, 127, 121, 0.12)"], [1, "rgba(27, 127, 121, 1)"]]
DOWN_SCALE = [[0, "rgba(200, 85, 61, 0.12)"], [1, "rgba(200, 85, 61, 1)"]]
KEPT_SCALE = [[0, "rgba(143, 163, 173, 0.15)"], [1, "rgba(143, 163, 173, 0.95)"]]
HEIGHT = 430
TICKS = [1, 5, 10, 15, 20, 25, 30]


def rank_map(moves: pd.DataFrame, chosen: tuple[int, int] | None = None, about: str = "") -> go.Figure:
    """Candidates by their rank without feedback (across) and with it (down), both from 1; the diagonal kept theirs.

    Shades grow with the square root of the count, because the diagonal holds most. Each cell carries its ranks in
    ``customdata``, so that a click names the cell and not a place in a table. ``about`` stands before an estimate.
    """
    counts = moves["candidates"].astype("int64").groupby([moves["unweighted_rank"], moves["weighted_rank"]]).sum()
    cells = counts.reset_index().astype("int64")
    total = int(cells["candidates"].sum())
    kept = int(cells.loc[cells["unweighted_rank"] == cells["weighted_rank"], "candidates"].sum())
    drawn = cells[(cells["unweighted_rank"] < MOST_RANKS) & (cells["weighted_rank"] < MOST_RANKS)]
    size = int(drawn[["unweighted_rank", "weighted_rank"]].max().max()) + 1 if len(drawn) else 1
    most = math.sqrt(int(drawn["candidates"].max())) if len(drawn) else 1.0
    figure = go.Figure()
    side = (drawn["unweighted_rank"] - drawn["weighted_rank"]).clip(-1, 1)
    for sign, scale in ((1, UP_SCALE), (-1, DOWN_SCALE), (0, KEPT_SCALE)):
        _draw_cells(figure, drawn[side == sign], size, scale, most)
    _draw_targets(figure, drawn)
    if chosen is not None and max(chosen) < MOST_RANKS:
        x, y = chosen[0] + 1, chosen[1] + 1
        figure.add_shape(
            type="rect", x0=x - 0.5, x1=x + 0.5, y0=y - 0.5, y1=y + 0.5, line={"color": DEGRADED, "width": 3}
        )
    moved = _percent(total - kept, total)
    finish(figure, f"Feedback moved {about}{moved} of candidates: ▲ above the diagonal, ▼ below", HEIGHT)
    span = [0.5, size + 0.5]
    figure.update_xaxes(title="rank without feedback", range=span, tickvals=TICKS, fixedrange=True, zeroline=False)
    figure.update_yaxes(
        title="rank with feedback", range=span[::-1], tickvals=TICKS, fixedrange=True, zeroline=False, showgrid=False
    )
    figure.update_layout(hovermode="closest", showlegend=False)
    return figure


def outside_the_map(moves: pd.DataFrame) -> int:
    """How many candidates stand in cells that the map is too small for."""
    deep = (moves["unweighted_rank"] >= MOST_RANKS) | (moves["weighted_rank"] >= MOST_RANKS)
    return int(moves.loc[deep, "candidates"].sum())


def _draw_cells(figure: go.Figure, cells: pd.DataFrame, size: int, scale: list[list[object]], most: float) -> None:
    """A cell for every pair of ranks, empty where no candidate has it: plotly would widen those beside a gap."""
    shades = np.full((size, size), np.nan, dtype="float32")  # sent as bytes, not as digits
    shades[cells["weighted_rank"], cells["unweighted_rank"]] = np.sqrt(cells["candidates"])
    figure.add_trace(
        go.Heatmap(
            x0=1,
            dx=1,
            y0=1,
            dy=1,
            z=shades,
            zmin=0,
            zmax=most,
            colorscale=scale,
            showscale=False,
            xgap=1,
            ygap=1,
            hoverinfo="skip",
        )
    )


def _draw_targets(figure: go.Figure, cells: pd.DataFrame) -> None:
    """What a click hits: plotly selects points and not cells of a heat map, so each cell has one nobody sees."""
    unseen = {"opacity": 0}
    figure.add_trace(
        go.Scatter(
            x=cells["unweighted_rank"] + 1,
            y=cells["weighted_rank"] + 1,
            mode="markers",
            marker={"symbol": "square", "size": 16, "opacity": 0, "color": NEUTRAL},
            selected={"marker": unseen},
            unselected={"marker": unseen},
            customdata=[
                [int(before), int(after), int(count), _moved(int(before) - int(after))]
                for before, after, count in cells.itertuples(index=False)
            ],
            hovertext=[
                "" if count == 1 else "s" for count in cells["candidates"]
            ],  # whole words for 900 cells would weigh
            hovertemplate="rank %{x} without, %{y} with feedback (%{customdata[3]}): %{customdata[2]:,} "
            "candidate%{hovertext}<extra></extra>",
        )
    )


def delta_histogram(moves: pd.DataFrame, about: str = "") -> go.Figure:
    """Candidates by places moved, up to the right; those that kept their rank would dwarf them and are in the title."""
    deltas = moves["unweighted_rank"].astype("int64") - moves["weighted_rank"].astype("int64")
    counts = moves["candidates"].astype("int64").groupby(deltas).sum()
    total, kept = int(counts.sum()), int(counts.get(0, 0))
    moved = counts.drop(0, errors="ignore")
    figure = go.Figure(
        go.Bar(
            x=moved.index,
            y=moved,
            marker={"color": [UP if delta > 0 else DOWN for delta in moved.index], "line": {"width": 0}},
            customdata=[_moved(int(delta)) for delta in moved.index],
            hovertext=[counted(int(count), "candidate") for count in moved],
            hovertemplate="%{customdata}: %{hovertext}<extra></extra>",
        )
    )
    title = "No candidate changed its rank"
    if len(moved):
        middle = weighted_median([abs(int(delta)) for delta in moved.index], list(moved))
        title = f"{about}{_percent(kept, total)} kept their rank; half the rest moved ≤ {counted(middle, 'place')}"
    finish(figure, title, HEIGHT)
    across = count_axis(len(moved) and moved.index.max() - moved.index.min() + 1) | {"tickformat": "+d"}
    figure.update_xaxes(title="▼ places down · places up ▲", zeroline=True, labelalias={"+0": "0"}, **across)
    figure.update_yaxes(title="candidates", **count_axis(moved.max() if len(moved) else 0))
    figure.update_layout(hovermode="closest", bargap=0.15)
    return figure


def weighted_median(values: Sequence[int], counts: Sequence[int]) -> int:
    """The smallest value that at least half of what is counted does not exceed."""
    half, seen = sum(counts) / 2, 0
    for value, count in sorted(zip(values, counts, strict=True)):
        seen += count
        if seen >= half:
            return value
    raise ValueError("expected at least one value, found none")


def _moved(delta: int) -> str:
    return f"▲{delta}" if delta > 0 else f"▼{-delta}" if delta < 0 else "kept"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.3g} %" if whole else "—"
