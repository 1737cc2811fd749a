"""The share of stored observations that reached agents, by project or agent and time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from charts.look import finish, literal, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pandas as pd

QUIET = "rgba(143, 163, 173, 0.12)"
STRONGEST = "rgba(27, 127, 121, 0.7)"  # so pale that the figures are legible on it, in either theme
ROW, LONGEST_LABEL = 26, 34
WHOLE_FROM = 10  # percent from which a cell has no decimals; two digits would write 100 as 1e+02
FEW_STEPS = 16  # up to which the figures stand in the cells


def heat_map(
    cells: pd.DataFrame, names: Sequence[str], steps: Sequence[str], told: int, *, ink: str | None = None
) -> go.Figure:
    """A row per name, a column per step; ``cells`` has row and step (both from 0), stored and injected.

    A cell before anything was stored stays empty: there was nothing to cover. The title speaks of step ``told``, by
    all_stored and all_injected, which count what has no row here, too. ``ink`` colours the figures in the cells.
    """
    stored, injected = np.zeros((2, len(names), len(steps)))
    places = cells["row"].to_numpy("int64"), cells["step"].to_numpy("int64")
    stored[places], injected[places] = (cells[value].to_numpy("float64") for value in ("stored", "injected"))
    share = np.divide(100 * injected, stored, out=np.full(stored.shape, np.nan), where=stored > 0)
    most = max(float(np.nanmax(share, initial=0.0)), 1.0)
    labels = [literal(short(name, LONGEST_LABEL)) for name in names]
    xs, ys = list(range(len(steps))), list(range(len(names)))
    figure = go.Figure(
        [
            go.Heatmap(
                x=xs,
                y=ys,
                z=share,
                zmin=0,
                zmax=most,
                colorscale=[[0, QUIET], [1, STRONGEST]],
                xgap=2,
                ygap=2,
                hoverongaps=False,
                customdata=[[[literal(names[y]), steps[x], injected[y, x], stored[y, x]] for x in xs] for y in ys],
                hovertemplate=(
                    "%{customdata[0]}, %{customdata[1]}<br>%{z:.3g} %: %{customdata[2]:,.0f} injected of "
                    "%{customdata[3]:,.0f} stored<extra></extra>"
                ),
                colorbar={"title": {"text": "% injected", "side": "right"}, "thickness": 10, "outlinewidth": 0},
            ),
            *(_numbers(share, ink) if len(steps) <= FEW_STEPS else ()),
        ]
    )
    finish(figure, _title(cells, steps, told), height=110 + ROW * len(names))
    figure.update_layout(hovermode="closest", showlegend=False)
    figure.update_xaxes(
        tickvals=xs, ticktext=list(steps), zeroline=False, fixedrange=True, range=[-0.55, len(xs) - 0.45]
    )
    figure.update_yaxes(
        tickvals=ys, ticktext=labels, zeroline=False, fixedrange=True, showgrid=False, rangemode="normal",
        range=[len(ys) - 0.45, -0.55],
    )  # fmt: skip
    return figure


def _title(cells: pd.DataFrame, steps: Sequence[str], told: int) -> str:
    last = cells[cells["step"] == told]
    stored, injected = int(last["all_stored"].max()), int(last["all_injected"].max())
    if not stored:
        return f"{steps[told]}: nothing was stored yet"
    return f"{steps[told]}: {100 * injected / stored:.3g} % of what was stored reached an agent"


def _numbers(share: npt.NDArray[np.float64], ink: str | None) -> list[go.Scatter]:
    """The share in each cell."""
    cells = [(int(x), int(y), float(share[y, x])) for y, x in np.argwhere(~np.isnan(share))]
    return [
        go.Scatter(
            x=[x for x, _, _ in cells],
            y=[y for _, y, _ in cells],
            mode="text",
            text=[f"{value:.0f}" if value >= WHOLE_FROM else f"{value:.2g}" for _, _, value in cells],
            textfont=ink and {"color": ink},
            hoverinfo="skip",
        )
    ]
