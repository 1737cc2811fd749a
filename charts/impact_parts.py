"""What stands behind feedback's effect: the weights of the candidates, and how sessions ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from charts.look import DOWN, FAINT, NEUTRAL, UP, count_axis, counted, finish_wrapped

if TYPE_CHECKING:
    import pandas as pd

BINS = 20
HALF = 10  # bins below a weight of a half
# a share of a side: value, lower and upper end of its interval
Bar = tuple[float, float, float]
OUTCOME_LOOK = {"accepted": (UP, ""), "rework": (NEUTRAL, "/"), "rejected": (DOWN, "x")}


def weight_histogram(moves: pd.DataFrame, about: str = "") -> go.Figure:
    """Candidates by the weight they were logged with, on the true 0 to 1: feedback starts at 1 and never exceeds it."""
    counts = moves["candidates"].astype("int64")
    binned = moves["weight_bin"]
    inside = binned.notna()
    total, full = int(counts[inside].sum()), int(counts[inside & (binned == BINS)].sum())
    low = int(counts[inside & (binned < HALF)].sum())
    injected = moves["injected"]
    parts = [
        ("in the block", injected.fillna(value=False).astype("bool"), UP),
        ("not in the block", ~injected.fillna(value=True).astype("bool"), NEUTRAL),
        ("block not logged", injected.isna(), FAINT),
    ]
    figure = go.Figure()
    places = [(number + 0.5) / BINS for number in range(BINS)] + [1 + 0.5 / BINS]
    names = [f"{number / BINS:.2f} to {(number + 1) / BINS:.2f}" for number in range(BINS)] + ["exactly 1"]
    for name, chosen, colour in parts:
        if not chosen.any():
            continue
        by_bin = counts[inside & chosen].groupby(binned[inside & chosen].astype("int64")).sum()
        heights = by_bin.reindex(range(BINS + 1), fill_value=0)
        figure.add_trace(
            go.Bar(
                x=places,
                y=heights,
                name=name,
                width=0.92 / BINS,
                customdata=names,
                marker={"color": colour, "line": {"width": 0}},
                hovertext=[counted(int(count), "candidate") for count in heights],
                hovertemplate=f"weight %{{customdata}}: %{{hovertext}} {name}<extra></extra>",
            )
        )
    title = "No candidate has a weight between 0 and 1"
    if total:
        shares = [f"{about}{100 * part / total:.3g} %" for part in (full, low)]
        title = f"{shares[0]} of candidates still have weight 1, {shares[1]} fell below 0.5"
    if outside := int(counts[~inside].sum()):
        title += f"; {about}{outside:,} outside 0 to 1 not drawn"
    finish_wrapped(figure, title, 320)
    ticks = [0, 0.25, 0.5, 0.75]
    figure.update_xaxes(
        title="feedback weight as logged", range=[-0.01, 1 + 1.1 / BINS], tickvals=[*ticks, places[-1]],
        ticktext=[*map(str, ticks), "1"],
    )  # fmt: skip
    figure.update_yaxes(title="candidates", **count_axis(counts[inside].groupby(binned[inside]).sum().max()))
    figure.update_layout(barmode="stack", hovermode="closest")
    return figure


def outcome_mix(sides: dict[str, dict[str, Bar]], title: str) -> go.Figure:
    """Shares of outcomes side by side, each with its 95 % interval; one group of bars per outcome."""
    figure = go.Figure()
    shades = (1.0, 0.45)
    for (side, bars), opacity in zip(sides.items(), shades, strict=False):
        values = [100 * bars[name][0] for name in bars]
        figure.add_trace(
            go.Bar(
                x=list(bars),
                y=values,
                name=side,
                marker={
                    "color": [OUTCOME_LOOK[name][0] for name in bars],
                    "opacity": opacity,
                    "pattern": {"shape": "" if opacity == 1 else "/", "fgopacity": 0.5},
                },
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": [100 * (high - value) for value, _, high in bars.values()],
                    "arrayminus": [100 * (value - low) for value, low, _ in bars.values()],
                    "thickness": 1.5,
                },
                customdata=[[100 * low, 100 * high] for _, low, high in bars.values()],
                hovertemplate=(
                    f"{side}: %{{y:.3g}} % %{{x}}, 95 % interval %{{customdata[0]:.3g}} to %{{customdata[1]:.3g}} %"
                    "<extra></extra>"
                ),
            )
        )
    finish_wrapped(figure, title, 320)
    figure.update_yaxes(title="percent of sessions", range=[0, 105], ticksuffix=" %")
    figure.update_layout(barmode="group", bargap=0.35, hovermode="closest")
    return figure
