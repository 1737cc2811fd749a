"""The stage bump chart: where every candidate stood after every stage, and where it was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import plotly.graph_objects as go

from charts.look import DEGRADED, DOWN, FAINT, NEUTRAL, UP, finish, literal

if TYPE_CHECKING:
    from collections.abc import Hashable

ROW_HEIGHT = 19
LONGEST_LABEL = 34
HOVER = "%{customdata[1]}<br>%{customdata[2]}: %{customdata[3]}<br>%{customdata[4]}<extra></extra>"


def bump(standings: pd.DataFrame, opened: str | None, block: int, candidates: int) -> go.Figure:
    """One line per candidate from recall to block; a cross ends the line of one that was dropped."""
    stages = standings.drop_duplicates("step").sort_values("step")
    last = int(stages["step"].max())
    deepest = int(standings["place"].max())
    drawn = list(standings.groupby("id", sort=False))
    figure = go.Figure([_line(label, rows, opened) for label, rows in sorted(drawn, key=lambda d: d[0] == opened)])
    _draw_cut(figure, last, block)
    figure.update_xaxes(
        tickvals=stages["step"], ticktext=[_tick(text) for text in stages["stage"]], side="top",
        range=[-0.25, last + 0.12], zeroline=False, fixedrange=True, tickangle=0,
    )  # fmt: skip
    few = f"{len(drawn)} of {candidates} candidates" if len(drawn) < candidates else f"{candidates} candidates"
    finish(figure, f"{_finding(standings, block)} ({few})", height=110 + ROW_HEIGHT * deepest)
    figure.update_yaxes(
        range=[deepest + 0.7, 0.3], title="place", dtick=1 if deepest <= 12 else 5, tick0=0 if deepest > 12 else 1,  # noqa: PLR2004 - a dozen ticks
        showgrid=False, zeroline=False, fixedrange=True, rangemode="normal",
    )  # fmt: skip
    figure.update_layout(
        showlegend=False, hovermode="closest", clickmode="event+select", margin={"l": 8, "r": 250, "t": 84, "b": 8}
    )
    return figure


def _line(label: Hashable, rows: pd.DataFrame, opened: str | None) -> go.Scatter:
    """One candidate; where it was dropped the line goes on level to the stage that dropped it."""
    rows = rows.sort_values("step")
    dropped = bool(rows["place"].isna().iloc[-1])
    places = rows["place"].ffill()
    first, final = int(places.iloc[0]), int(places.iloc[-1])
    moved = first - final
    colour = FAINT if dropped else UP if moved > 0 else DOWN if moved < 0 else NEUTRAL
    is_opened = label == opened
    ends = ["x" if dropped and step == len(rows) - 1 else "circle" for step in range(len(rows))]
    texts = [""] * len(rows)
    if not dropped or is_opened:
        texts[-1] = _label(rows, final, moved, dropped=dropped)
    return go.Scatter(
        x=rows["step"].tolist(),
        y=[int(place) for place in places],
        mode="lines+markers+text",
        text=texts,
        textposition="middle right",
        cliponaxis=False,
        customdata=_facts(rows),
        hovertemplate=HOVER,
        line={"color": colour, "width": 4 if is_opened else 1.8},
        marker={"color": colour, "size": [9 if end == "x" else 8 if is_opened else 6 for end in ends], "symbol": ends},
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}, "textfont": {"color": None}},
    )


def _facts(rows: pd.DataFrame) -> list[list[str]]:
    facts = []
    for row in rows.to_dict("records"):
        where = "dropped" if pd.isna(row["place"]) else f"place {row['place']}"
        score = f", score {row['score']:.3g}" if row["step"] else ""
        facts.append([row["id"], literal(row["title"]), row["stage"], where + score, literal(row["sentence"])])
    return facts


def _label(rows: pd.DataFrame, final: int, moved: int, *, dropped: bool) -> str:
    title = str(rows["title"].iloc[0])
    short = title if len(title) <= LONGEST_LABEL else f"{title[: LONGEST_LABEL - 1]}…"
    arrow = "×" if dropped else f"▲{moved}" if moved > 0 else f"▼{-moved}" if moved < 0 else "="
    return f"  {final} {arrow} {literal(short)}"


def _tick(stage: str) -> str:
    return stage.replace(" ", "<br>").replace("-", "-<br>")


def _draw_cut(figure: go.Figure, last: int, block: int) -> None:
    """The line below the last row of the block, over the last step."""
    figure.add_shape(
        type="line", x0=last - 0.5, x1=last + 0.12, y0=block + 0.5, y1=block + 0.5,
        line={"color": DEGRADED, "width": 2, "dash": "dot"},
    )  # fmt: skip
    figure.add_annotation(
        x=last - 0.5, y=block + 0.5, text="cut", showarrow=False, xanchor="right", font={"color": DEGRADED, "size": 12}
    )


def _finding(standings: pd.DataFrame, block: int) -> str:
    first = standings[(standings["step"] == 0) & (standings["place"] <= block)]["id"]
    packed = standings[standings["injected"]]["id"].unique()
    entered = len(set(packed) - set(first))
    if not block:
        return "Nothing fits the block"
    if not entered:
        return f"The {block} in the block are the first {block} recalled"
    return f"{entered} of the {block} in the block were not among the first {block} recalled"
