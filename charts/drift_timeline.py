"""Both statements of a contradiction on one time axis: their weights above, what happened to each below."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from charts.look import DAYS, DISPUTED, NEUTRAL, counted, finish
from charts.timeline import LANES, draw_lane, fit_weights, weight_begins

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

COLOURS = {"older": NEUTRAL, "newer": DISPUTED}
DASHES = {"older": "dash", "newer": "solid"}
ROW = 24  # pixels of a lane


class Life(NamedTuple):
    """One statement: what happened (``lane, first, last, count``), its weight in steps and now, its beginning."""

    happened: pd.DataFrame
    steps: pd.DataFrame
    weight: float | None
    created: datetime | None


class Given(NamedTuple):
    """Of a window of so many days: injections of each side, and sessions that were given both; None: not logged."""

    days: int
    older: int | None
    newer: int | None
    both: int | None


def both_lives(older: Life, newer: Life, now: datetime, given: Given) -> go.Figure:
    """Weights from 0 to 1, or beyond where one is, the older dashed; lanes of the older above those of the newer."""
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.34, 0.66], vertical_spacing=0.05)
    lives = {"older": older, "newer": newer}
    most = max([1, *(int(count) for life in lives.values() for count in life.happened["count"])])
    names: list[str] = []
    for side, life in lives.items():
        _draw_weight(figure, side, life, now)
        for lane in LANES:
            marks = life.happened[life.happened["lane"] == lane]
            if len(marks):
                names.append(f"{side}: {LANES[lane][0]}")
                draw_lane(figure, names[-1], lane, marks, most)
    figure.update_yaxes(
        row=2, categoryorder="array", categoryarray=names[::-1], range=[-0.6, len(names) - 0.4], fixedrange=True
    )
    finish(figure, _finding(lives, given), height=212 + ROW * max(len(names), 3))
    figure.update_layout(hovermode="closest", margin={"l": 8, "r": 16, "t": 86, "b": 8})
    figure.update_layout(legend={"x": 0, "xanchor": "left"}, title={"y": 0.95})  # two lines
    fit_weights(figure)
    figure.update_xaxes(row=2, title="time (UTC)", tickformatstops=DAYS)
    return figure


def _draw_weight(figure: go.Figure, side: str, life: Life, now: datetime) -> None:
    ordered = life.steps.iloc[::-1]
    times, values = list(ordered["recorded_at"]), [float(value) for value in ordered["new_weight"]]
    first = float(ordered["previous_weight"].iloc[0]) if times else life.weight
    if first is None:
        return
    last = values[-1] if values else first
    figure.add_trace(
        go.Scatter(
            x=[weight_begins(ordered, life.created, now), *times, max(now, *times) if times else now],
            y=[first, *values, last],
            mode="lines",
            name=f"weight of the {side}",
            line={"shape": "hv", "color": COLOURS[side], "width": 2, "dash": DASHES[side]},
            hovertemplate=f"%{{x|%-d %b %Y %H:%M}}<br>weight of the {side} %{{y:.3g}}<extra></extra>",
        ),
        row=1,
        col=1,
    )


def _finding(lives: dict[str, Life], given: Given) -> str:
    ever = [int(life.happened.loc[life.happened["lane"] == "injected", "count"].sum()) for life in lives.values()]
    said = f"Injected {ever[0]:,} and {ever[1]:,} times in all"
    if given.older is None or given.newer is None:
        return said
    both = "" if not given.both else f", both into {counted(given.both, 'session')}"
    days = "the window's day" if given.days == 1 else f"the window's {given.days:,} days"
    # on a line of its own: one would be cut off in a narrow window
    return f"{said}<br>{given.older:,} and {given.newer:,} in {days}{both}"
