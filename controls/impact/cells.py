"""The cells of Feedback Impact's map as a list to choose from, for those who do not use a mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from controls import glossary
from controls.address import say
from controls.impact.filters import choose_cell
from controls.messages import counted, moved

if TYPE_CHECKING:
    import pandas as pd

EVERY = "every cell"
PICKED = "pick_cell"


def choose(moves: pd.DataFrame, cell: tuple[int, int] | None) -> None:
    """Every cell that holds a candidate, by rank with feedback, then without; the one in the address too."""
    counts = moves["candidates"].astype("int64").groupby([moves["weighted_rank"], moves["unweighted_rank"]]).sum()
    held = {
        (int(before), int(after)): int(count) for after, before, count in counts.reset_index().itertuples(index=False)
    }
    cells: dict[str, tuple[int, int] | None] = {EVERY: None}
    cells |= {_label(key, count): key for key, count in held.items()}
    if cell is not None and cell not in held:
        cells[_label(cell, 0)] = cell
    st.session_state[PICKED] = next(label for label, key in cells.items() if key == cell)
    st.selectbox(
        "Cell of the map",
        list(cells),
        key=PICKED,
        on_change=_picked,
        args=(cells,),
        width=270,
        help=glossary.CELL_OF_THE_MAP,
    )


def _label(cell: tuple[int, int], count: int) -> str:
    before, after = cell
    how = "kept" if before == after else moved(before, after)
    return f"rank {before + 1} → {after + 1} ({how}): {counted(count, 'candidate')}"


def _picked(cells: dict[str, tuple[int, int] | None]) -> None:
    choose_cell(cells.get(st.session_state[PICKED]))
    say(retrieval=None)
