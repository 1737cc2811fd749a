"""The map of what reaches agents: a cell is injected over stored, and an empty one says that nothing was stored."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from charts.coverage import FEW_STEPS, heat_map
from controls.ink import INK

STEPS = ["1 Jan", "2 Jan"]


def cells(*rows: tuple[int, int, int, int], everything: tuple[int, int] | None = None) -> pd.DataFrame:
    """Row, step, stored and injected; the sums of all are those of the rows unless said otherwise."""
    frame = pd.DataFrame(rows, columns=["row", "step", "stored", "injected"])
    sums = frame.groupby("step")[["stored", "injected"]].transform("sum")
    stored, injected = (sums["stored"], sums["injected"]) if everything is None else everything
    return frame.assign(all_stored=stored, all_injected=injected)


TWO = cells((0, 0, 10, 1), (0, 1, 20, 8), (1, 0, 0, 0), (1, 1, 5, 0))


def test_a_cell_is_the_share_of_what_was_stored_by_then() -> None:
    heat = heat_map(TWO, ["api", "web"], STEPS, 1).data[0]
    assert np.asarray(heat.z)[0].tolist() == [10, 40]
    assert np.isnan(np.asarray(heat.z)[1, 0])  # nothing was stored yet: not a share of 0
    assert np.asarray(heat.z)[1, 1] == 0
    assert (heat.zmin, heat.zmax) == (0, 40)
    assert list(heat.customdata[0][1]) == ["api", "2 Jan", 8, 20]


def test_the_figures_stand_in_the_cells() -> None:
    _, told = heat_map(TWO, ["api", "web"], STEPS, 1).data
    assert list(zip(told.x, told.y, told.text, strict=True)) == [(0, 0, "10"), (1, 0, "40"), (1, 1, "0")]


def luminance(colour: tuple[float, ...]) -> float:
    """Of WCAG 2."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_figures_are_legible_in_every_cell(theme: str) -> None:
    """4.5 : 1 of the figures' colour on the cell's, which lets the background through; plotly's own is paler."""
    look = tomllib.loads(Path(".streamlit/config.toml").read_text())["theme"][theme]
    heat, told = heat_map(TWO, ["api", "web"], STEPS, 1, ink=INK[theme]).data
    text, behind = (
        tuple(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
        for colour in (told.textfont.color, look["backgroundColor"])
    )
    (none, most) = ([float(part) for part in re.findall(r"[\d.]+", colour)] for _, colour in heat.colorscale)
    assert len(none) == len(most) == 4
    for share in np.linspace(0, 1, 21):
        *ink, alpha = (one + share * (other - one) for one, other in zip(none, most, strict=True))
        cell = tuple(alpha * part / 255 + (1 - alpha) * under for part, under in zip(ink, behind, strict=True))
        low, high = sorted((luminance(text), luminance(cell)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, share


def test_many_columns_leave_no_room_for_figures() -> None:
    many = cells(*((0, step, 10, 1) for step in range(FEW_STEPS + 1)))
    assert len(heat_map(many, ["api"], [str(step) for step in range(FEW_STEPS + 1)], 0).data) == 1


@pytest.mark.parametrize(
    ("found", "told", "title"),
    [
        (TWO, 1, "2 Jan: 32 % of what was stored reached an agent"),  # 8 of 25
        (TWO, 0, "1 Jan: 10 % of what was stored reached an agent"),
        (cells((0, 1, 20, 8), everything=(1000, 100)), 1, "2 Jan: 10 % of what was stored reached an agent"),
        (cells((0, 1, 0, 0)), 1, "2 Jan: nothing was stored yet"),
    ],
    ids=["last", "first", "beyond the rows", "nothing"],
)
def test_the_title_counts_everything_and_not_the_rows_alone(found: pd.DataFrame, told: int, title: str) -> None:
    assert heat_map(found, ["api", "web"], STEPS, told).layout.title.text.replace("<br>", " ") == title


def test_names_are_literal_and_the_first_stands_on_top() -> None:
    axis = heat_map(TWO, ["<b>api</b>", "w" * 40], STEPS, 1).layout.yaxis
    assert axis.ticktext[0].startswith("&lt;b>")
    assert axis.ticktext[1] == "w" * 33 + "…"
    assert axis.range[0] > axis.range[1]
