"""Retrievals over time, and how many of them feedback changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import plotly.graph_objects as go

from charts.look import FAINT, LINE, LONGEST_LINE, NEUTRAL, UP, count_axis, finish

if TYPE_CHECKING:
    from datetime import datetime


def feedback_by_day(daily: pd.DataFrame, since: datetime, until: datetime, *, estimated: bool = False) -> go.Figure:
    """Bars per day: retrievals whose top 5 feedback changed, kept, or that cannot say; counted, or estimated."""
    days = pd.date_range(since, until, freq="D", inclusive="left")
    columns = ["retrievals", "measured", "moved"]
    # A day without rows had no retrievals: a true zero, not a missing figure.
    each = daily.groupby("day")[columns].sum().reindex(days, fill_value=0).astype("int64")
    parts = (
        ("changed", each["moved"], UP),
        ("kept", each["measured"] - each["moved"], NEUTRAL),
        ("weighting off or incomplete", each["retrievals"] - each["measured"], FAINT),
    )
    figure = go.Figure(
        [
            go.Bar(
                x=days,
                y=values,
                width=BAR_WIDTH,
                name=name,
                marker={"color": colour, "line": {"width": 0}},
                hovertemplate=f"%{{x|%-d %b}}: %{{y:,}} {name}<extra></extra>",
            )
            for name, values, colour in parts
        ],
        {
            "barmode": "stack",
            "bargap": 0.25,
            "xaxis": {
                "range": [days[0] - HALF_DAY, days[-1] + HALF_DAY],
                "tickformat": "%-d %b",
                "dtick": 24 * 3600 * 1000 if len(days) <= FEW_DAYS else None,
            },
            "yaxis": {"title": "retrievals per day", **count_axis(each["retrievals"].max())},
        },
    )
    measured, moved = int(each["measured"].sum()), int(each["moved"].sum())
    lines = _finding(moved, measured, "≈ " if estimated else "")
    finish(figure, "<br>".join(lines), HEIGHT)
    more = LINE * (len(lines) - 1)
    figure.layout.margin.t, figure.layout.title.y = ABOVE + more, TITLE - more / (2 * HEIGHT)  # held by its middle
    return figure


def _finding(moved: int, measured: int, about: str) -> tuple[str, ...]:
    """In two lines where one is too long for a window of 900 px."""
    if not measured:
        return (NOT_MEASURED,)
    told = (
        f"Feedback changed the top 5 in {about}{100 * moved / measured:.3g} %",
        f"of retrievals: {about}{moved:,} of {measured:,} comparable",
    )
    return told if len(" ".join(told)) > LONGEST_LINE else (" ".join(told),)


HALF_DAY = pd.Timedelta(hours=12)
BAR_WIDTH = 0.75 * 24 * 3600 * 1000  # plotly counts days in milliseconds
FEW_DAYS = 10
HEIGHT, ABOVE, TITLE = 290, 66, 0.96  # room for a title of one line, and the legend below it
NOT_MEASURED = "No retrieval in this window can say what feedback changed"
