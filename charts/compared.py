"""Several lists of the same question side by side, with a line from each observation to its place in the next list."""

from __future__ import annotations

import html
import textwrap
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from charts.look import DEGRADED, DOWN, NEUTRAL, UP, finish

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

WIDTHS = {1: 90, 2: 54, 3: 36, 4: 27}  # characters of text beside a place, by number of lists
LINE_FROM, LINE_TO = 0.74, 0.97  # where between two lists a line runs, the text being left of it
ROW = 24  # pixels
HOVER = 70


def side_by_side(listed: pd.DataFrame, names: Sequence[str], notes: Mapping[int, str], k: int, title: str) -> go.Figure:
    """The best ``k`` of each list, ``listed`` having column, rank (from 1), id, text and in_block of all that is known.

    ``notes`` say of a list why it has no rows. A filled mark is in the memory block, a diamond is not among the first
    list's best k. Lines up are teal, lines down vermilion.
    """
    shown = listed[listed["rank"] <= k]
    figure = go.Figure([*_lines(shown, len(names)), _places(shown, listed, names)])
    for place, name in enumerate(names):
        _say(figure, place, 0.1, f"<b>{literal(shortened(name, WIDTHS[len(names)]))}</b>")
        if place in notes:
            _say(figure, place, 1.0, literal(notes[place]), color=DEGRADED)
    rows = int(shown["rank"].max()) if len(shown) else 1
    figure.update_layout(showlegend=False)
    figure = finish(figure, literal(title), height=64 + ROW * (rows + 1))
    figure.update_layout(hovermode="closest", hoverlabel={"align": "left"}, margin={"t": 36})
    figure.update_xaxes(visible=False, fixedrange=True, range=[-0.03, len(names) - 1 + LINE_TO])
    figure.update_yaxes(visible=False, fixedrange=True, range=[rows + 0.6, -0.4])
    return figure


def _say(figure: go.Figure, column: int, row: float, text: str, **font: str) -> None:
    figure.add_annotation(
        x=column, y=row, text=text, showarrow=False, xanchor="left", align="left", font={"size": 13, **font}
    )


def _lines(shown: pd.DataFrame, columns: int) -> list[go.Scatter]:
    """One trace per direction, each a series of strokes with gaps between."""
    strokes: dict[str, tuple[list[float | None], list[float | None]]] = {}
    ranks: dict[tuple[int, str], int] = {(column, id_): rank for column, rank, id_, _, _ in _rows(shown)}
    for (column, id_), rank in ranks.items():
        after = ranks.get((column + 1, id_)) if column + 1 < columns else None
        if after is not None:
            colour = NEUTRAL if after == rank else UP if after < rank else DOWN
            xs, ys = strokes.setdefault(colour, ([], []))
            xs += [column + LINE_FROM, column + LINE_TO, None]
            ys += [rank, after, None]
    return [
        go.Scatter(x=xs, y=ys, mode="lines", line={"color": colour, "width": 1.6}, hoverinfo="skip")
        for colour, (xs, ys) in strokes.items()
    ]


def _places(shown: pd.DataFrame, listed: pd.DataFrame, names: Sequence[str]) -> go.Scatter:
    """A mark and the beginning of the text at every place."""
    first = set(shown.loc[shown["column"] == 0, "id"])
    has_first = bool((listed["column"] == 0).any())
    new = [has_first and id_ not in first for id_ in shown["id"]]
    symbols = [
        f"{'diamond' if is_new else 'circle'}{'' if block else '-open'}"
        for is_new, block in zip(new, shown["in_block"], strict=True)
    ]
    width = WIDTHS[len(names)]
    places = zip(shown["rank"], shown["text"], strict=True)
    told = _told(listed, names)
    return go.Scatter(
        x=shown["column"],
        y=shown["rank"],
        mode="markers+text",
        text=[f" {rank}  {literal(shortened(text, width - 3))}" for rank, text in places],
        textposition="middle right",
        textfont={"size": 13},
        hovertext=[told[id_] for id_ in shown["id"]],
        hoverinfo="text",
        marker={"symbol": symbols, "size": 9, "color": [UP if is_new else "#8FA3AD" for is_new in new]},
    )


def _told(listed: pd.DataFrame, names: Sequence[str]) -> dict[str, str]:
    """What an observation says and where it stands in each list, by id."""
    places: dict[str, dict[int, tuple[int, bool]]] = {}
    texts: dict[str, str] = {}
    for column, rank, id_, text, block in _rows(listed):
        places.setdefault(id_, {})[column] = (rank, block)
        texts[id_] = text
    held = set(listed["column"])
    told = {}
    for id_, at in places.items():
        lines = [literal(line) for line in textwrap.wrap(texts[id_], HOVER)]
        start = at.get(0)
        for column, name in enumerate(names):
            place = "no list" if column not in held else _place(at.get(column), start if column else None)
            lines.append(f"{literal(shortened(name, HOVER))}: {place}")
        told[id_] = "<br>".join(lines)
    return told


def _rows(listed: pd.DataFrame) -> Iterator[tuple[int, int, str, str, bool]]:
    """Column, rank, id, text and whether it is in the block, row by row."""
    names = ("column", "rank", "id", "text", "in_block")
    return zip(*(listed[name].tolist() for name in names), strict=True)


def _place(at: tuple[int, bool] | None, start: tuple[int, bool] | None) -> str:
    if at is None:
        return "not in its list"
    rank, block = at
    moved = 0 if start is None else start[0] - rank
    sign = f" ▲{moved}" if moved > 0 else f" ▼{-moved}" if moved < 0 else ""
    return f"rank {rank}{sign}{', in the block' if block else ''}"


def shortened(text: str, width: int) -> str:
    """The beginning of a text, with an ellipsis where something is left out."""
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"


def literal(text: str) -> str:
    """Text for Plotly, which takes tags for markup: shown as it is written."""
    return html.escape(text, quote=False)
