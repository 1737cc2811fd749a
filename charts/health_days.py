"""How sessions ended and how whole the log was, day by day over two windows, with the flags that were turned."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from charts.look import FAINT, NEUTRAL, finish

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    import pandas as pd

HEIGHT = 320
STRIP = 56  # pixels more for a second measure, which has a scale of its own above the first
TITLE = 0.95  # of the height: two lines, of which the theme would cut the first
STEP = 20  # points of the scale, which begins at a whole one below all that is drawn
SHAPES = ("circle", "diamond-open")  # of days, also told apart where the legend alone is seen
PARTS = ((0.0, 0.68), (0.8, 1.0))  # of the height, from below, for two measures: where both are 100 % none hides one
LABEL = 15  # pixels from the label of one mark down to that of the next
GAP = 4  # pixels between a line and its words
LATE = 0.7  # of the time that is drawn: a label of what is later stands left of its line
DASHES = ("solid", "dot")
AXES = ("y", "y2")
ROOM, ROOM_IN_STRIP = 0.04, 0.15  # of the scale, above and below, so that a dot on its edge stays whole
SMALLEST, LARGEST = 3, 9  # pixels of a dot
WEEK = 7
FEW_DAYS, DAY_IN_MS = timedelta(days=8), 86_400_000
HALF_DAY = timedelta(hours=12)  # a day's point stands at its noon: flags stand at the moment they were turned

Mark = tuple["datetime", str]


def shares_and_marks(
    lines: dict[str, tuple[str, pd.DataFrame]], marks: Sequence[Mark], since: datetime, title: str
) -> go.Figure:
    """A line per measure by its name, with its colour and days (``day, share, part, whole, of_week``).

    The second of two stands in a strip above the first. A line is of seven days together, the days themselves are
    dots, the larger the more they are formed of. Marks are thin lines with their words; ``since`` is where the window
    before ends, which lies on a wash if it has any day.
    """
    figure = go.Figure(
        [
            trace
            for place, (name, (colour, days)) in enumerate(lines.items())
            for trace in _traces(name, colour, days, place)
        ]
    )
    every = [day for _, days in lines.values() for day in days["day"][days["whole"] > 0]]
    first = min([*every, *(at - HALF_DAY for at, _ in marks)])
    end = max(day for _, days in lines.values() for day in days["day"]) + 2 * HALF_DAY
    if first < since:
        _wash(figure, first, since)
    for place, (at, words) in enumerate(sorted(marks)):
        is_late = (at - first) > LATE * (end - first)
        figure.add_shape(
            type="line", x0=at, x1=at, y0=0, y1=1, yref="paper", line={"width": 1.5, "dash": "dash", "color": NEUTRAL}
        )
        figure.add_annotation(
            x=at, y=0, yref="y domain", xshift=-GAP if is_late else GAP, yshift=LABEL * (place + 1), text=words,
            showarrow=False, xanchor="right" if is_late else "left", yanchor="bottom",
        )  # fmt: skip
    lows = {name: _lowest(days) for name, (_, days) in lines.items()}
    finish(figure, f"{title}<br><sup>{_scales(lows)}</sup>", HEIGHT + STRIP * (len(lines) - 1))
    # below the picture, where it meets neither the title nor a dot in however narrow a window
    below = {"x": 0, "xanchor": "left", "y": -0.12, "yanchor": "top"}
    if len(lines) > 1:
        for axis, name in zip(AXES, lines, strict=False):
            _name(figure, axis, name)
    low, *above = lows.values()
    figure.update_yaxes(_axis(low, STEP, ROOM))
    for least in above:
        figure.update_layout(yaxis={"domain": PARTS[0]})
        # a strip has room for its ends
        figure.update_layout(yaxis2={"domain": PARTS[1], **_axis(least, 100 - least, ROOM_IN_STRIP)})
    figure.update_layout(margin={"t": 56}, hovermode="closest", legend=below, title_y=TITLE)
    figure.update_xaxes(range=[first, end], tickformat="%-d %b", fixedrange=True, anchor="y")
    if end - first < FEW_DAYS:  # else each of them would be named several times
        figure.update_xaxes(tick0=first.replace(hour=0, minute=0, second=0, microsecond=0), dtick=DAY_IN_MS)
    return figure


def _traces(name: str, colour: str, days: pd.DataFrame, place: int) -> list[go.Scatter]:
    """Dots of the days and the line of seven together; of fewer days no line, which would be of one or two alone."""
    found = [_days(name, colour, days, SHAPES[place])]
    if len(days) >= WEEK:
        found.append(_weeks(name, colour, days, DASHES[place]))
    return [trace.update(yaxis=AXES[place]) for trace in found]


def _axis(low: int, step: int, room: float) -> dict[str, Any]:
    ticks, room = list(range(low, 101, step)), (100 - low) * room
    return {
        "range": [low - room, 100 + room],
        "tickvals": ticks,
        "ticktext": [f"{tick} %" for tick in ticks],
        "rangemode": "normal",
        "fixedrange": True,
    }


def _scales(lows: dict[str, int]) -> str:
    """Where each scale begins; of one alone its name is the title's."""
    (name, low), *above = lows.items()
    if not above:
        return f"scale from {low} to 100 %"
    return f"{name}: scale from {low} to 100 %; above it " + ", ".join(f"{of}: from {least}" for of, least in above)


def _lowest(days: pd.DataFrame) -> int:
    """Where the scale begins: no point lies below it, and a step is left if all are 100 %."""
    least = float(days[["share", "of_week"]].min().min())
    return min(int(least // STEP) * STEP, 100 - STEP)


def _days(name: str, colour: str, days: pd.DataFrame, symbol: str) -> go.Scatter:
    size = SMALLEST + (LARGEST - SMALLEST) * (days["whole"] / days["whole"].max()) ** 0.5  # by area
    return go.Scatter(
        x=days["day"] + HALF_DAY,
        y=days["share"],
        mode="markers",
        name=f"{name}, each day",
        marker={
            "size": size,
            "symbol": symbol,
            "color": colour,
            "opacity": 0.6 if symbol == SHAPES[0] else 0.8,  # of an open one there is only the outline
            "line": {"width": 1 if symbol.endswith("open") else 0},
        },
        customdata=days[["part", "whole"]],
        hovertemplate=f"%{{x|%-d %b}}: %{{y:.3g}} % {name}, %{{customdata[0]:,.0f}} of %{{customdata[1]:,.0f}}"
        "<extra></extra>",
    )


def _weeks(name: str, colour: str, days: pd.DataFrame, dash: str) -> go.Scatter:
    return go.Scatter(
        x=days["day"] + HALF_DAY,
        y=days["of_week"],
        mode="lines",
        name=f"{name}, 7 days",
        line={"color": colour, "width": 2, "dash": dash},
        hovertemplate=f"%{{y:.3g}} % {name} in the 7 days up to %{{x|%-d %b}}<extra></extra>",
    )


def _name(figure: go.Figure, axis: str, name: str) -> None:
    """Which of two scales this is, above its upper end where no point lies."""
    figure.add_annotation(
        text=f"<b>{name}</b>", x=1, y=1, xref="paper", yref=f"{axis} domain", xanchor="right", yanchor="bottom",
        showarrow=False, font={"size": 12},
    )  # fmt: skip


def _wash(figure: go.Figure, first: datetime, since: datetime) -> None:
    figure.add_shape(
        x0=first,
        x1=since,
        y0=0,
        y1=1,
        yref="paper",
        fillcolor=FAINT,
        opacity=0.4,
        line_width=0,
        layer="below",
    )
    figure.add_annotation(
        x=first, y=0, yref="y domain", text="window before", showarrow=False, xanchor="left", yanchor="bottom"
    )
