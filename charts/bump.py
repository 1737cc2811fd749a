"""The stage bump chart: where every candidate stood after every stage, and where it was lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
import plotly.graph_objects as go

from charts.look import DEGRADED, DOWN, FAINT, NEUTRAL, UP, finish, literal, short

if TYPE_CHECKING:
    from collections.abc import Hashable

ROW_HEIGHT = 19
CLOSER = 25
FEW_STAGES = 7
FEW = 12
THIN, THICK = 1.8, 4.0
COLOURS = {"dropped": FAINT, "level": NEUTRAL, "up": UP, "down": DOWN}
# drawn in this order, so that the line that was opened lies above all others
KINDS = {way: (colour, THIN) for way, colour in COLOURS.items()}
KINDS |= {f"{way} opened": (colour, THICK) for way, colour in COLOURS.items()} | {"dropped opened": (NEUTRAL, THICK)}
NO_FACTS = [""] * 5
LONGEST_LABEL = 26
HOVER = "%{customdata[1]}<br>%{customdata[2]}: %{customdata[3]}<br>%{customdata[4]}<extra></extra>"


def bump(standings: pd.DataFrame, opened: str | None, block: int, candidates: int) -> go.Figure:
    """One line per candidate from recall to block; a cross ends the line of one that was dropped."""
    stages = standings.drop_duplicates("step").sort_values("step")
    last, deepest = int(stages["step"].max()), int(standings["place"].max())
    each: dict[str, list[dict[Hashable, Any]]] = {}
    for row in standings.sort_values("step", kind="stable").to_dict("records"):
        each.setdefault(row["id"], []).append(row)
    lines = [_line(rows, opened) for rows in each.values()]
    kinds = {kind: [line for line in lines if line.kind == kind] for kind in KINDS}
    figure = go.Figure([_trace(kind, members) for kind, members in kinds.items() if members])
    figure.add_trace(_labels([line for line in lines if line.label]))
    _draw_cut(figure, last, block)
    few = f"{len(lines)} of {candidates} candidates" if len(lines) < candidates else f"{candidates} candidates"
    finish(figure, _finding(standings, block), height=round(126 + ROW_HEIGHT * _height(deepest)))
    # on a line of its own: a narrow window would cut off the end of one line
    figure.update_layout(title_subtitle={"text": few, "font": {"size": 13}})
    many = last > FEW_STAGES
    figure.update_xaxes(
        tickvals=stages["step"].tolist(), ticktext=stages["stage"].tolist(), side="top", range=[-0.25, last + 0.12],
        zeroline=False, fixedrange=True, tickangle=-60 if many else -30,  # level, they overprint in a narrow window
    )  # fmt: skip
    ticks = [place for place in range(1, deepest + 1) if deepest <= FEW or place % (5 if place <= CLOSER else 20) == 0]
    figure.update_yaxes(
        range=[_height(deepest) + 0.7, 0.3], title="place", tickvals=[*map(_height, ticks)], ticktext=ticks,
        showgrid=False, zeroline=False, fixedrange=True, rangemode="normal",
    )  # fmt: skip
    figure.update_layout(
        showlegend=False,
        hovermode="closest",
        clickmode="event+select",
        margin={"l": 8, "r": 200, "t": 136 if many else 108, "b": 8},
    )
    return figure


def _height(place: int) -> float:
    """How far down a place is drawn: beyond the 25th, where no block reaches, five take the room of one."""
    return place if place <= CLOSER else CLOSER + (place - CLOSER) / 5


@dataclass(frozen=True)
class _Line:
    """One candidate's points, in the order of the stages."""

    kind: str
    x: list[int]
    y: list[float]
    symbols: list[str]
    label: str
    facts: list[list[str]]


def _line(rows: list[dict[Hashable, Any]], opened: str | None) -> _Line:
    """One candidate; where it was dropped the line goes on level to the stage that dropped it."""
    dropped, is_opened = bool(pd.isna(rows[-1]["place"])), rows[0]["id"] == opened
    places = [int(row["place"]) for row in rows if not pd.isna(row["place"])]
    places += places[-1:] * dropped
    moved = places[0] - places[-1]
    way = "dropped" if dropped else "up" if moved > 0 else "down" if moved < 0 else "level"
    symbols = ["circle"] * (len(rows) - dropped) + ["x"] * dropped
    # lines stand closer beyond the 25th place, too close for two labels
    named = is_opened or (not dropped and places[-1] <= CLOSER)
    label = _label(rows[0]["title"], places[-1], moved, dropped=dropped) if named else ""
    kind = f"{way} opened" if is_opened else way
    return _Line(kind, [int(row["step"]) for row in rows], list(map(_height, places)), symbols, label, _facts(rows))


def _trace(kind: str, lines: list[_Line]) -> go.Scatter:
    """All lines of one kind, with a gap between two: one trace for each would take plotly far longer."""
    colour, width = KINDS[kind]
    return go.Scatter(
        x=[x for line in lines for x in (*line.x, None)],
        y=[y for line in lines for y in (*line.y, None)],
        customdata=[facts for line in lines for facts in (*line.facts, NO_FACTS)],
        name=kind,
        mode="lines+markers",
        cliponaxis=False,
        hovertemplate=HOVER,
        line={"color": colour, "width": width},
        marker={
            "color": colour,
            "size": 8 if width == THICK else 6,
            "symbol": [symbol for line in lines for symbol in (*line.symbols, "circle")],
        },
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def _labels(lines: list[_Line]) -> go.Scatter:
    """What stands at the end of a line; a trace of its own, because plotly loses texts that follow empty ones."""
    return go.Scatter(
        x=[line.x[-1] for line in lines],
        y=[line.y[-1] for line in lines],
        text=[line.label for line in lines],
        customdata=[line.facts[-1] for line in lines],
        name="labels",
        mode="text",
        textposition="middle right",
        cliponaxis=False,
        hovertemplate=HOVER,
    )


def _facts(rows: list[dict[Hashable, Any]]) -> list[list[str]]:
    facts = []
    for row in rows:
        where = "dropped" if pd.isna(row["place"]) else f"place {row['place']}"
        score = f", score {row['score']:.3g}" if row["step"] else ""
        facts.append([row["id"], literal(row["title"]), row["stage"], where + score, literal(row["sentence"])])
    return facts


def _label(title: str, final: int, moved: int, *, dropped: bool) -> str:
    # an equals sign between a place and a text would read as a definition
    arrow = "×" if dropped else f"▲{moved}" if moved > 0 else f"▼{-moved}" if moved < 0 else "·"
    return f"  {final} {arrow} {literal(short(title, LONGEST_LABEL))}"


def _draw_cut(figure: go.Figure, last: int, block: int) -> None:
    """The line below the last row of the block, over the last step."""
    figure.add_shape(
        type="line", x0=last - 0.5, x1=last + 0.12, y0=_height(block) + 0.5, y1=_height(block) + 0.5,
        line={"color": DEGRADED, "width": 2, "dash": "dot"},
    )  # fmt: skip
    figure.add_annotation(
        x=last - 0.5,
        y=_height(block) + 0.5,
        text="cut",
        showarrow=False,
        xanchor="right",
        font={"color": DEGRADED, "size": 12},
    )


def _finding(standings: pd.DataFrame, block: int) -> str:
    first = standings[(standings["step"] == 0) & (standings["place"] <= block)]["id"]
    packed = standings[standings["injected"]]["id"].unique()
    entered = len(set(packed) - set(first))
    if not block:
        return "Nothing fits the block"
    if not entered:
        return f"The {block} in the block are the first {block} recalled"
    return f"{entered} of {block} in the block were not among the first {block} recalled"
