"""One retrieval's two orders as lines from left to right, with the edge of the block across them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from charts.look import DEGRADED, DOWN, NEUTRAL, UP, finish, literal, short

if TYPE_CHECKING:
    import pandas as pd

ROW = 26
LONGEST = 36  # characters beside a line: a window of 900 pixels has room for no more
LONGEST_HOVERED = 120
LEFT, RIGHT = -0.08, 2.4  # of the picture, in widths of the lines: labels need more room than lines
MOST = 40  # rows that one reads along; what stands deeper is counted by ``without_a_line``
RANKS = ["unweighted_rank", "weighted_rank"]


def slope(candidates: pd.DataFrame, block: int | None) -> go.Figure:
    """A line per candidate (``unweighted_rank, weighted_rank, text, injected``) between its two ranks, both from 1.

    The dashed line is the budget's cut, below the last candidate of the block; none where the block is not logged.
    """
    whole = candidates[_within(candidates)]
    figure = go.Figure()
    columns = whole["unweighted_rank"].astype("int64"), whole["weighted_rank"].astype("int64"), whole["text"]
    for unweighted, weighted, content in zip(*columns, strict=True):
        before, after = unweighted + 1, weighted + 1
        colour, sign = (UP, f"▲{before - after}") if after < before else (DOWN, f"▼{after - before}")
        if after == before:
            colour, sign = NEUTRAL, "="
        figure.add_trace(
            go.Scatter(
                x=[0, 1],
                y=[before, after],
                mode="lines+markers+text",
                line={"color": colour, "width": 2 if after != before else 1},
                marker={"size": 7, "symbol": ["circle-open", "circle"], "color": colour},
                text=["", f"{sign}  {_cut(content, LONGEST)}"],
                textposition="middle right",
                textfont={"size": 12},
                cliponaxis=False,
                customdata=[[_cut(content, LONGEST_HOVERED)]] * 2,
                hovertemplate=(
                    f"%{{customdata[0]}}<br>rank {before} without, {after} with feedback ({sign})<extra></extra>"
                ),
            )
        )
    last = max([1, *(int(rank) + 1 for name in RANKS for rank in whole[name])])
    if block is not None and 0 < block <= MOST:
        figure.add_shape(
            type="line", x0=LEFT, x1=1.03, y0=block + 0.5, y1=block + 0.5,
            line={"color": DEGRADED, "dash": "dash", "width": 2},
        )  # fmt: skip
        figure.add_annotation(
            text="cut", x=LEFT, y=block + 0.5, xanchor="right", showarrow=False,
            font={"color": DEGRADED, "size": 12},
        )  # fmt: skip
    finish(figure, _finding(candidates.dropna(subset=RANKS), block), max(240, 90 + ROW * last))
    figure.update_xaxes(
        range=[LEFT, RIGHT],
        tickvals=[0, 1],
        ticktext=["without feedback", "with feedback"],
        side="top",
        fixedrange=True,
    )
    figure.update_yaxes(
        title="rank",
        range=[last + 0.7, 0.3],
        tickvals=[1, *range(5, last + 1, 5)],
        fixedrange=True,
        zeroline=False,
        showgrid=False,
    )
    figure.update_layout(showlegend=False, hovermode="closest", margin={"l": 8, "r": 8, "t": 76, "b": 8})
    return figure


def without_a_line(candidates: pd.DataFrame) -> int:
    """How many candidates have no line: a rank is missing, is none, or stands deeper than the chart reaches."""
    return int((~_within(candidates)).sum())


def _within(candidates: pd.DataFrame) -> pd.Series[bool]:
    ranks = candidates[RANKS]
    return (ranks.ge(0) & ranks.lt(MOST)).fillna(value=False).all(axis=1).astype("bool")


def _finding(whole: pd.DataFrame, block: int | None) -> str:
    moved = int((whole["unweighted_rank"] != whole["weighted_rank"]).sum())
    said = f"Feedback moved {moved} of {len(whole)} candidates"
    if block is None:
        return f"{said}; who was in the block is not logged"
    injected = whole["injected"].fillna(value=False).astype("bool")
    entered = int((injected & (whole["unweighted_rank"] >= block)).sum())
    return f"{said} and brought {entered} into the block of {block}"


def _cut(text: object, longest: int) -> str:
    """The start of a text on one line, as it is written."""
    if not isinstance(text, str):
        return "(no longer stored)"
    return literal(short(" ".join(text.split()), longest))
