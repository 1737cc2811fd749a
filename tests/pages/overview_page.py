"""Overview's matrix as a test reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controls.overview.matrix import CELLS, ROOM

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest


def matrix(test: AppTest) -> Any:  # noqa: ANN401 - a frame
    """By organization, the cells without the room around their words, which each of them has."""
    table = test.dataframe[0].value.set_index("id")
    for name in CELLS:
        assert all(cell.startswith(ROOM) and cell.endswith(ROOM) for cell in table[name]), name
        table[name] = [cell.removeprefix(ROOM).removesuffix(ROOM) for cell in table[name]]
    return table
