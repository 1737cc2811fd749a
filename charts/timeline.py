"""One observation's life on one time axis: its weight above, everything that happened to it below."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from charts.look import DAYS, DISPUTED, DOWN, NEUTRAL, UP, finish, literal, short

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

# lane: (name beside the axis, marker, colour); from top to bottom
LANES = {
    "written": ("written", "star", NEUTRAL),
    "corroborated": ("said by others", "cross", UP),
    "contradicted": ("contradicted", "x", DISPUTED),
    "retrieved": ("retrieved only", "circle-open", NEUTRAL),
    "injected": ("injected", "circle", UP),
    "accepted": ("accepted", "triangle-up", UP),
    "rework": ("rework", "diamond", DOWN),
    "rejected": ("rejected", "triangle-down", DOWN),
}
SMALLEST, LARGEST = 8.0, 22.0
LONGEST = 80  # characters of a session's name
SINGULAR = {
    "written": "written",
    "corroborated": "the same said by another observation",
    "contradicted": "contradicted by another observation",
    "retrieved": "retrieved, not injected",
    "injected": "injected",
    "accepted": "session accepted",
    "rework": "session sent to rework",
    "rejected": "session rejected",
}


def timeline(
    happened: pd.DataFrame, steps: pd.DataFrame, weight: float | None, created: datetime | None, now: datetime
) -> go.Figure:
    """Lanes of marks sized by how many they stand for (``lane, first, last, count``) under the weight as steps.

    The weight is drawn on the true 0 to 1, or to what it is beyond: a drop from 0.98 to 0.96 looks as small as it is.
    """
    shown = [lane for lane in LANES if lane in set(happened["lane"])]
    heights = [0.42, 0.58]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=heights, vertical_spacing=0.06)
    _draw_weight(figure, steps, weight, created, now)
    most = int(happened["count"].max()) if len(happened) else 1
    for lane in shown:
        draw_lane(figure, LANES[lane][0], lane, happened[happened["lane"] == lane], most)
    names = [LANES[lane][0] for lane in shown]
    figure.update_yaxes(
        row=2, categoryorder="array", categoryarray=names[::-1], range=[-0.6, len(names) - 0.4], fixedrange=True
    )
    finish(figure, _finding(happened, steps), height=200 + 32 * max(len(names), 3))
    figure.update_layout(showlegend=False, hovermode="closest", margin={"l": 8, "r": 16, "t": 40, "b": 8})
    fit_weights(figure)
    figure.update_xaxes(row=2, title="time (UTC)", tickformatstops=DAYS)
    return figure


def _draw_weight(
    figure: go.Figure, steps: pd.DataFrame, weight: float | None, created: datetime | None, now: datetime
) -> None:
    ordered = steps.iloc[::-1]
    times = list(ordered["recorded_at"])
    values = [float(value) for value in ordered["new_weight"]]
    start = weight_begins(ordered, created, now)
    first = float(ordered["previous_weight"].iloc[0]) if times else weight
    last = values[-1] if values else weight
    if first is None or last is None:
        return
    line = {"shape": "hv", "color": NEUTRAL, "width": 2}
    x, y = [start, *times, max(now, *times) if times else now], [first, *values, last]
    figure.add_trace(go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip"), row=1, col=1)
    for outcome in ("accepted", "rework", "rejected"):
        mine = ordered[ordered["outcome"] == outcome]
        if mine.empty:
            continue
        _, symbol, colour = LANES[outcome]
        figure.add_trace(
            go.Scatter(
                x=mine["recorded_at"],
                y=mine["new_weight"],
                mode="markers",
                marker={"symbol": symbol, "color": colour, "size": 9},
                customdata=[
                    [
                        f"{float(before):.3g}",
                        f"{float(after):.3g}",
                        f"{float(alpha):.3g}",
                        literal(short(session, LONGEST)),
                    ]
                    for before, after, alpha, session in zip(
                        mine["previous_weight"], mine["new_weight"], mine["alpha"], mine["session_id"], strict=True
                    )
                ],
                hovertemplate=(
                    f"%{{x|%-d %b %Y %H:%M}}<br>weight %{{customdata[0]}} → %{{customdata[1]}}, {outcome}, "
                    "α %{customdata[2]}<br>session %{customdata[3]}<extra></extra>"
                ),
            ),
            row=1,
            col=1,
        )


def fit_weights(figure: go.Figure) -> None:
    """The axis of weights: from 0 to 1, or to the highest that is drawn."""
    drawn = [float(weight) for trace in figure.data if trace.yaxis == "y" for weight in trace.y]
    top = max([1.0, *filter(math.isfinite, drawn)])
    figure.update_yaxes(row=1, title="weight", range=[0, top * 1.05], tickvals=[0, 0.5, 1], fixedrange=True)


def weight_begins(ordered: pd.DataFrame, created: datetime | None, now: datetime) -> datetime:
    """Where the line of a weight begins: where it was written, or with the first change that is drawn of very many."""
    if ordered.empty:
        return created or now
    first: datetime = ordered["recorded_at"].iloc[0]
    is_whole = int(ordered["total"].iloc[0]) == len(ordered)
    return created if is_whole and created is not None and created < first else first


def draw_lane(figure: go.Figure, name: str, lane: str, marks: pd.DataFrame, most: int) -> None:
    """The marks of one lane, under its name, sized by how many each stands for."""
    _, symbol, colour = LANES[lane]
    sizes = [_size(count, most) for count in marks["count"]]
    middle = marks["first"] + (marks["last"] - marks["first"]) / 2
    said = [_said(lane, *mark) for mark in zip(marks["first"], marks["last"], marks["count"], strict=True)]
    marker = {
        "symbol": symbol,
        "color": colour,
        "size": sizes,
        "line": {"width": 1.5, "color": colour},
        "opacity": 0.85,
    }
    figure.add_trace(
        go.Scatter(
            x=middle,
            y=[name] * len(marks),
            mode="markers",
            marker=marker,
            text=said,
            hovertemplate="%{text}<extra></extra>",
            showlegend=False,
        ),
        row=2,
        col=1,
    )


def _size(count: int, most: int) -> float:
    """A diameter whose area grows with the count: twice as large for two, until the largest would not fit its lane."""
    one, room = SMALLEST**2, LARGEST**2
    each = min(one, (room - one) / max(most - 1, 1))
    return math.sqrt(one + each * (count - 1))


def _said(lane: str, first: pd.Timestamp, last: pd.Timestamp, count: int) -> str:
    when = f"{first:%-d %b %Y %H:%M}" + (f" to {last:%-d %b %H:%M}" if count > 1 else "")
    times = f"{count:,} times " if count > 1 else ""
    return f"{times}{SINGULAR[lane]}<br>{when}"


def _finding(happened: pd.DataFrame, steps: pd.DataFrame) -> str:
    counts = happened.groupby("lane")["count"].sum()
    injected = int(counts.get("injected", 0))
    retrieved = injected + int(counts.get("retrieved", 0))
    if not retrieved:
        return "Never retrieved"
    moved = ""
    if len(steps):
        first, last = float(steps["first_weight"].iloc[0]), float(steps["new_weight"].iloc[0])
        moved = f"; weight {first:.3g} → {last:.3g}"
    times = "once" if retrieved == 1 else f"{retrieved:,} times"
    return f"Retrieved {times}, injected {injected:,}{moved}"
