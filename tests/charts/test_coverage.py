"""The map of what reaches agents: a cell is injected over stored, and an empty one says that nothing was stored."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from charts.coverage import FEW_STEPS, ON_STRONG, heat_map

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


def test_the_figures_stand_in_the_cells_white_on_strong_colour() -> None:
    """Of at most 40 %, more than 0.55 · 40 = 22 % is strong."""
    _, weak, strong = heat_map(TWO, ["api", "web"], STEPS, 1).data
    assert list(zip(weak.x, weak.y, weak.text, strict=True)) == [(0, 0, "10"), (1, 1, "0")]
    assert list(zip(strong.x, strong.y, strong.text, strict=True)) == [(1, 0, "40")]
    assert strong.textfont.color == ON_STRONG


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
