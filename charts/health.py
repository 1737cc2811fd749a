"""Every check on one scale of three bands, so that what needs a hand is seen at once, and where it comes from."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from charts.look import DEGRADED, DOWN, NEUTRAL, UP, finish_wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

ROW = 30  # pixels
# band: colour, marker, the wash behind it
LOOKS = {
    "good": (UP, "circle", "rgba(27, 127, 121, 0.12)"),
    "watch": (DEGRADED, "diamond", "rgba(183, 134, 11, 0.18)"),
    "red": (DOWN, "x", "rgba(200, 85, 61, 0.20)"),
}
TAILS = {"red": DOWN, "green": UP, "off": NEUTRAL}  # a change too small to be called worse or better is grey
UNKNOWN = "rgba(143, 163, 173, 0.14)"
SEEN = 0.04  # of a band: a shorter tail would be hidden by its own mark
WORDS = {"good": "in order", "watch": "watch", "red": "act"}


def bands(checks: pd.DataFrame, title: str) -> go.Figure:
    """A row per check in its order, ``checks`` having label, place (0 to 3, or missing), band, shown and limits.

    Every band is equally wide, whatever its limits are: what is compared is how far each check is from its own. A tail
    leads from where it stood before (``was``, a place or missing), in the colour of its ``sense``, and ``change`` tells
    it in words. A check without a place stands in no band: its row is grey.
    """
    labels = list(checks["label"])
    known = checks[checks["place"].notna()]
    figure = go.Figure()
    for sense, colour in TAILS.items():
        moved = known[((known["place"] - known["was"]).abs() > SEEN) & (known["sense"] == sense)]
        ends = [value for was, place in zip(moved["was"], moved["place"], strict=True) for value in (was, place, None)]
        rows = [value for label in moved["label"] for value in (label, label, None)]
        # every third is a gap; of each two the first is the open mark of the past
        sizes = [9 if number % 3 == 0 else 0 for number in range(len(ends))]
        figure.add_trace(
            go.Scatter(
                x=ends,
                y=rows,
                mode="lines+markers",
                line={"color": colour, "width": 2},
                marker={"size": sizes, "symbol": "circle-open", "color": colour, "line": {"width": 2}},
                hoverinfo="skip",
            )
        )
    washes = [(number, number + 1, wash) for number, (_, _, wash) in enumerate(LOOKS.values())]
    for is_known, low, high in _runs(checks["place"].notna()[::-1]):
        for left, right, wash in washes if is_known else [(0, len(LOOKS), UNKNOWN)]:
            figure.add_shape(x0=left, x1=right, y0=low, y1=high, fillcolor=wash, line_width=0, layer="below")
    for band, (colour, symbol, _) in LOOKS.items():
        here = known[known["band"] == band]
        figure.add_trace(
            go.Scatter(
                x=here["place"],
                y=here["label"],
                mode="markers+text",
                text=[f" {shown}" for shown in here["shown"]],
                textposition=["middle left" if place > TEXT_FITS else "middle right" for place in here["place"]],
                cliponaxis=False,
                marker={"size": 13, "symbol": symbol, "color": colour, "line": {"width": 0}},
                customdata=here[["shown", "limits", "change"]],
                hovertemplate="%{y}: %{customdata[0]}<br>%{customdata[1]}<br>%{customdata[2]}<extra></extra>",
            )
        )
    unknown = checks[checks["place"].isna()]
    figure.add_trace(
        go.Scatter(
            x=[len(LOOKS) / 2] * len(unknown),
            y=unknown["label"],
            mode="text",
            text=["cannot be known here"] * len(unknown),
            textposition="middle center",
            hoverinfo="skip",
        )
    )
    finish_wrapped(figure, title, 90 + ROW * len(labels))
    figure.update_layout(showlegend=False, hovermode="closest")
    figure.update_xaxes(
        range=[-0.06, 3.06],
        tickvals=[0.5, 1.5, 2.5],
        ticktext=[WORDS[band] for band in LOOKS],
        side="top",
        zeroline=False,
        fixedrange=True,
    )
    figure.update_yaxes(
        categoryorder="array", categoryarray=labels[::-1], rangemode="normal", range=[-0.6, len(labels) - 0.4],
        fixedrange=True, showgrid=False,
    )  # fmt: skip
    return figure


def _runs(known: Iterable[bool]) -> list[tuple[bool, float, float]]:
    """Neighbouring rows that are alike, from below, each with the edges around them."""
    found, low = [], -0.5
    for is_known, rows in groupby(known):
        high = low + sum(1 for _ in rows)
        found.append((bool(is_known), low, high))
        low = high
    return found


TEXT_FITS = 2.6
