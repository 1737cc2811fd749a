"""Several lists of the same question side by side, with a line from each observation to its place in the next list."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from charts.look import DEGRADED, DOWN, NEUTRAL, UP, finish, literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

LONGEST = 90  # characters of a text; the column cuts off what has no room
COLUMN, LINES = 0.76, (0.79, 0.98)  # of a list's share of the width: its texts, and the lines to the next list
ROW = 24  # pixels
HOVER = 70
HEAD = 0.1  # the row in which names stand


def side_by_side(listed: pd.DataFrame, names: Sequence[str], notes: Mapping[int, str], k: int, title: str) -> go.Figure:
    """The best ``k`` of each list, ``listed`` having column, rank (from 1), id, name, text, in_block of all known.

    ``notes`` say of a list why it has no rows. A filled mark is in the memory block, a diamond is not among the first
    list's best k. Lines up are teal, lines down vermilion; they have room of their own, and texts end before it.
    """
    shown = listed[listed["rank"] <= k]
    lists = len(names)
    figure = go.Figure([*_lines(shown, lists), *(_name(place, name) for place, name in enumerate(names))])
    told = _told(listed, names)
    first = {id_ for column, _, id_, *_ in _rows(shown) if column == 0}
    newcomers = bool((listed["column"] == 0).any())
    for place in range(lists):
        figure.add_trace(_places(shown[shown["column"] == place], place, told, first if newcomers else None))
    for place, note in notes.items():
        figure.add_annotation(
            x=0, y=1.0, text=literal(note), showarrow=False, xanchor="left", xref=_axis_of(place),
            font={"size": 13, "color": DEGRADED},
        )  # fmt: skip
    rows = int(shown["rank"].max()) if len(shown) else 1
    figure.update_layout(showlegend=False)
    figure = finish(figure, literal(title), height=64 + ROW * (rows + 1))
    figure.update_layout(hovermode="closest", hoverlabel={"align": "left"}, margin={"t": 36})
    for place in range(lists):
        last = place == lists - 1
        figure.update_layout({
            _layout_axis(place): _axis([place / lists, (place + (1 if last else COLUMN)) / lists]),
            **({} if last else {_layout_axis(lists + place): _axis([(place + at) / lists for at in LINES])}),
        })  # fmt: skip
    figure.update_yaxes(visible=False, fixedrange=True, range=[rows + 0.6, -0.4])
    return figure


def _axis(domain: list[float]) -> dict[str, object]:
    return {"visible": False, "fixedrange": True, "range": [-0.07, 1], "domain": domain, "anchor": "y"}


def _layout_axis(number: int) -> str:
    return "xaxis" if not number else f"xaxis{number + 1}"


def _axis_of(number: int) -> str:
    return "x" if not number else f"x{number + 1}"


def _name(place: int, name: str) -> go.Scatter:
    """What stands above a list."""
    return go.Scatter(
        x=[0], y=[HEAD], text=[f"<b>{literal(shortened(name, LONGEST))}</b>"], mode="text", textposition="middle right",
        textfont={"size": 13}, hovertext=literal(name), hoverinfo="text", xaxis=_axis_of(place), cliponaxis=True,
        name=f"name {place}",
    )  # fmt: skip


def _lines(shown: pd.DataFrame, columns: int) -> list[go.Scatter]:
    """One trace per direction between two lists, each a series of strokes with gaps between."""
    strokes: dict[tuple[int, str], tuple[list[float | None], list[float | None]]] = {}
    ranks: dict[tuple[int, str], int] = {(column, id_): rank for column, rank, id_, *_ in _rows(shown)}
    for (column, id_), rank in ranks.items():
        after = ranks.get((column + 1, id_)) if column + 1 < columns else None
        if after is not None:
            colour = NEUTRAL if after == rank else UP if after < rank else DOWN
            xs, ys = strokes.setdefault((column, colour), ([], []))
            xs += [0, 1, None]
            ys += [rank, after, None]
    return [
        go.Scatter(
            x=xs,
            y=ys,
            mode="lines",
            line={"color": colour, "width": 1.6},
            hoverinfo="skip",
            xaxis=_axis_of(columns + column),
        )
        for (column, colour), (xs, ys) in strokes.items()
    ]


def _places(rows: pd.DataFrame, place: int, told: Mapping[str, str], first: set[str] | None) -> go.Scatter:
    """A mark and the beginning of the name at every place of one list."""
    new = [first is not None and id_ not in first for id_ in rows["id"]]
    symbols = [
        f"{'diamond' if is_new else 'circle'}{'' if block else '-open'}"
        for is_new, block in zip(new, rows["in_block"], strict=True)
    ]
    places = zip(rows["rank"], rows["name"], strict=True)
    return go.Scatter(
        x=[0] * len(rows),
        y=rows["rank"],
        mode="markers+text",
        text=[f" {rank}  {literal(shortened(name, LONGEST))}" for rank, name in places],
        textposition="middle right",
        textfont={"size": 13},
        hovertext=[told[id_] for id_ in rows["id"]],
        hoverinfo="text",
        marker={"symbol": symbols, "size": 9, "color": [UP if is_new else NEUTRAL for is_new in new]},
        xaxis=_axis_of(place),
        cliponaxis=True,
        name=f"list {place}",
    )


def _told(listed: pd.DataFrame, names: Sequence[str]) -> dict[str, str]:
    """What an observation is called and says, and where it stands in each list, by id."""
    places: dict[str, dict[int, tuple[int, bool]]] = {}
    texts: dict[str, list[str]] = {}
    for column, rank, id_, name, text, block in _rows(listed):
        places.setdefault(id_, {})[column] = (rank, block)
        texts[id_] = [name, text] if name != text else [text]
    held = set(listed["column"])
    told = {}
    for id_, at in places.items():
        lines = [literal(line) for text in texts[id_] for line in textwrap.wrap(text, HOVER)]
        start = at.get(0)
        for column, name in enumerate(names):
            place = "no list" if column not in held else _place(at.get(column), start if column else None)
            lines.append(f"{literal(shortened(name, HOVER))}: {place}")
        told[id_] = "<br>".join(lines)
    return told


def _rows(listed: pd.DataFrame) -> Iterator[tuple[int, int, str, str, str, bool]]:
    """Column, rank, id, name, text and whether it is in the block, row by row."""
    names = ("column", "rank", "id", "name", "text", "in_block")
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
