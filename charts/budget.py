"""Tokens injected against how sessions ended, a mark per work type, with the frontier and the four zones."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from charts.look import DEGRADED, DOWN, NEUTRAL, UP, finish_wrapped, literal, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

# zone: colour, marker
LOOKS = {
    "efficient": (UP, "circle"),
    "generous": (NEUTRAL, "square"),
    "starved": (DEGRADED, "diamond"),
    "wasteful": (DOWN, "x"),
}
# zone: right of the cross or left, above it or below
CORNERS = {"efficient": (0, 1), "generous": (1, 1), "starved": (0, 0), "wasteful": (1, 0)}
LONGEST_LABEL = 24


def pareto(
    points: pd.DataFrame,
    frontier: Sequence[tuple[float, float]],
    centre: tuple[float, float],
    cut_at: int | None = None,
    ended: str = "without rework",
) -> go.Figure:
    """Marks with their 95 % intervals; ``points`` has name, zone, tokens, tokens_low, … share_high and judged.

    A mark is open and grey where ``told_apart`` is false: its intervals leave it open in which zone it lies, and a
    frontier with such a mark on it is grey too.
    The line joins the work types that none beats in both; the map is divided at ``centre``, the mean of all sessions.
    Where there are more work types, ``cut_at`` says how many of the most frequent were looked at. ``ended`` says in
    words of which sessions the share is.
    """
    figure = go.Figure()
    certain = _is_told(points, frontier)
    figure.add_trace(
        go.Scatter(
            x=[tokens for tokens, _ in frontier],
            y=[100 * share for _, share in frontier],
            mode="lines",
            name="frontier",
            line={"color": UP if certain else NEUTRAL, "width": 2, "dash": "dot", "shape": "hv"},
            hoverinfo="skip",
        )
    )
    for zone, told_apart in product(LOOKS, (True, False)):
        here = points[(points["zone"] == zone) & (points["told_apart"] == told_apart)]
        if not here.empty:
            figure.add_trace(_marks(here, zone, ended, told_apart=told_apart))
    figure.add_vline(x=centre[0], line={"color": NEUTRAL, "width": 1})
    figure.add_hline(y=100 * centre[1], line={"color": NEUTRAL, "width": 1})
    _name_zones(figure, set(points["zone"][points["told_apart"]]))
    if len(frontier) > 1:
        figure.add_annotation(
            text="frontier" if certain else "frontier,<br>not told apart", x=_room(points, frontier),
            y=100 * frontier[0][1], yanchor="top", showarrow=False, font={"color": UP if certain else NEUTRAL},
        )  # fmt: skip
    finish_wrapped(figure, _title(points, frontier, cut_at, ended), height=420)
    figure.update_layout(hovermode="closest", showlegend=False)
    low, high = _range(points["tokens_low"], points["tokens_high"])
    figure.update_xaxes(title="mean tokens injected per session", range=[low, high], tickformat=",d", zeroline=False)
    bottom, top = _range(100 * points["share_low"], 100 * points["share_high"])
    figure.update_yaxes(
        title=f"percent of sessions {ended}", range=[bottom, min(top, 104)], rangemode="normal", ticksuffix=" %"
    )
    return figure


def _marks(here: pd.DataFrame, zone: str, ended: str, *, told_apart: bool) -> go.Scatter:
    """The work types of one zone, all of them told apart or none."""
    own, symbol = LOOKS[zone]
    colour = own if told_apart else NEUTRAL
    return go.Scatter(
        x=here["tokens"],
        y=100 * here["share"],
        mode="markers+text",
        name=zone,
        text=[literal(short(name, LONGEST_LABEL)) for name in here["name"]],
        textposition="top right",
        cliponaxis=False,
        marker={
            "size": 12,
            "symbol": [symbol if told_apart else f"{symbol}-open"] * len(here),
            "color": colour,
            "line": {"width": 2, "color": colour},
        },
        error_x=_whiskers(here, "tokens", 1),
        error_y=_whiskers(here, "share", 100),
        customdata=[
            [literal(name), *numbers]
            for name, *numbers in zip(
                here["name"],
                here["tokens_low"],
                here["tokens_high"],
                100 * here["share_low"],
                100 * here["share_high"],
                here["judged"],
                ["" if told else ", not told apart from the others" for told in here["told_apart"]],
                strict=True,
            )
        ],
        hovertemplate=(
            f"%{{customdata[0]}}: %{{y:.3g}} % {ended} "
            "(%{customdata[3]:.3g} to %{customdata[4]:.3g})<br>"
            "%{x:,.0f} tokens a session (%{customdata[1]:,.0f} to %{customdata[2]:,.0f})<br>"
            f"%{{customdata[5]:,}} sessions with an outcome, {zone}%{{customdata[6]}}<extra></extra>"
        ),
    )


def _is_told(points: pd.DataFrame, frontier: Sequence[tuple[float, float]]) -> bool:
    """Whether every work type on the frontier is told apart from the mean of all sessions."""
    told = {(tokens, share) for tokens, share in points.loc[points["told_apart"], ["tokens", "share"]].to_numpy()}
    return set(frontier) <= told


def _name_zones(figure: go.Figure, told: set[str]) -> None:
    """Each zone's name in its outer corner, grey where no mark is sure to lie."""
    for zone, (x, y) in CORNERS.items():
        colour = LOOKS[zone][0] if zone in told else NEUTRAL
        figure.add_annotation(
            text=zone, x=x, y=y, xref="x domain", yref="y domain", xanchor=("left", "right")[x],
            yanchor=("bottom", "top")[y], showarrow=False, font={"color": colour, "size": 13},
        )  # fmt: skip


def _room(points: pd.DataFrame, frontier: Sequence[tuple[float, float]]) -> float:
    """The middle of the widest part of the frontier's first step in which no mark stands."""
    (left, _), (right, _) = frontier[:2]
    between = points["tokens"][points["tokens"].between(left, right)]
    start, end = max(pairwise(sorted({left, *between, right})), key=lambda part: part[1] - part[0])
    return float(start + end) / 2


def _title(points: pd.DataFrame, frontier: Sequence[tuple[float, float]], cut_at: int | None, ended: str) -> str:
    told = int(points["told_apart"].sum())
    if not told:
        of = f"of {len(points)} work types" if cut_at is None else f"of {len(points)} drawn"
        most = "None" if cut_at is None else f"Of the {cut_at} most frequent work types: none"
        return f"{most} {of} is told apart from the mean of all sessions"
    wasteful = int(((points["zone"] == "wasteful") & points["told_apart"]).sum())
    said = f"{len(frontier)} of {len(points)} work types are on the frontier"
    if cut_at is not None:
        said = f"Of the {cut_at} most frequent work types: {len(frontier)} of {len(points)} drawn are on the frontier"
    if told < len(points):
        said += f"; {len(points) - told} not told apart"
    beyond = f"; with more tokens and fewer sessions {ended} than the mean: {wasteful}"
    return f"{said}{beyond}" if wasteful else said


def _whiskers(here: pd.DataFrame, name: str, scale: int) -> dict[str, object]:
    value = here[name]
    return {
        "type": "data",
        "symmetric": False,
        "array": scale * (here[f"{name}_high"] - value),
        "arrayminus": scale * (value - here[f"{name}_low"]),
        "thickness": 1,
        "width": 3,
    }


def _range(low: pd.Series[float], high: pd.Series[float]) -> tuple[float, float]:
    least, most = float(low.min()), float(high.max())
    room = max(most - least, 1.0) * 0.12
    return max(least - room, 0.0), most + room
