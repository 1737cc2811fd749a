"""Tokens injected against sessions accepted, a mark per work type, with the frontier and the four zones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from charts.look import DEGRADED, DOWN, NEUTRAL, UP, finish, literal

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
LONGEST_LABEL = 24


def pareto(
    points: pd.DataFrame,
    frontier: Sequence[tuple[float, float]],
    centre: tuple[float, float],
    cut_at: int | None = None,
) -> go.Figure:
    """Marks with their 95 % intervals; ``points`` has name, zone, tokens, tokens_low, … accepted_high and judged.

    A mark is open where ``told_apart`` is false: its intervals leave it open in which zone it lies.
    The line joins the work types that none beats in both; the map is divided at ``centre``, the mean of all sessions.
    Where there are more work types, ``cut_at`` says how many of the most frequent were looked at.
    """
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=[tokens for tokens, _ in frontier],
            y=[100 * share for _, share in frontier],
            mode="lines",
            name="frontier",
            line={"color": UP, "width": 2, "dash": "dot", "shape": "hv"},
            hoverinfo="skip",
        )
    )
    for zone, (colour, symbol) in LOOKS.items():
        here = points[points["zone"] == zone]
        figure.add_trace(
            go.Scatter(
                x=here["tokens"],
                y=100 * here["accepted"],
                mode="markers+text",
                name=zone,
                text=[literal(_short(name)) for name in here["name"]],
                textposition="top right",
                cliponaxis=False,
                marker={
                    "size": 12,
                    "symbol": [symbol if told else f"{symbol}-open" for told in here["told_apart"]],
                    "color": colour,
                    "line": {"width": 2, "color": colour},
                },
                error_x=_whiskers(here, "tokens", 1),
                error_y=_whiskers(here, "accepted", 100),
                customdata=[
                    [literal(name), *numbers]
                    for name, *numbers in zip(
                        here["name"],
                        here["tokens_low"],
                        here["tokens_high"],
                        100 * here["accepted_low"],
                        100 * here["accepted_high"],
                        here["judged"],
                        ["" if told else ", not told apart from the others" for told in here["told_apart"]],
                        strict=True,
                    )
                ],
                hovertemplate=(
                    "%{customdata[0]}: %{y:.3g} % accepted (%{customdata[3]:.3g} to %{customdata[4]:.3g})<br>"
                    "%{x:,.0f} tokens a session (%{customdata[1]:,.0f} to %{customdata[2]:,.0f})<br>"
                    f"%{{customdata[5]:,}} sessions with an outcome, {zone}%{{customdata[6]}}<extra></extra>"
                ),
            )
        )
    figure.add_vline(x=centre[0], line={"color": NEUTRAL, "width": 1})
    figure.add_hline(y=100 * centre[1], line={"color": NEUTRAL, "width": 1})
    finish(figure, _title(points, frontier, cut_at), height=420)
    figure.update_layout(hovermode="closest")
    low, high = _range(points["tokens_low"], points["tokens_high"])
    figure.update_xaxes(title="mean tokens injected per session", range=[low, high], tickformat=",d", zeroline=False)
    bottom, top = _range(100 * points["accepted_low"], 100 * points["accepted_high"])
    figure.update_yaxes(
        title="percent accepted without rework", range=[bottom, min(top, 104)], rangemode="normal", ticksuffix=" %"
    )
    return figure


def _title(points: pd.DataFrame, frontier: Sequence[tuple[float, float]], cut_at: int | None) -> str:
    wasteful = int(((points["zone"] == "wasteful") & points["told_apart"]).sum())
    said = f"{len(frontier)} of {len(points)} work types are on the frontier"
    if cut_at is not None:
        said = f"Of the {cut_at} most frequent work types: {len(frontier)} of {len(points)} drawn are on the frontier"
    return f"{said}; {wasteful} cost more than most and are accepted less" if wasteful else said


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


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 1]}…"
