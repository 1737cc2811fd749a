"""Cells of tables, which are drawn on a canvas: where each stands, and a click on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controls.overview.matrix import CELLS, NAME

if TYPE_CHECKING:
    from playwright.sync_api import Page

ENTER = 55  # pixels of "Open" in the matrix
HEADER, ROW = 35, 38
USUAL_ROW = 35  # where a table sets no height
EDGE = 5  # pixels inside a cell
LONG = 90_000  # milliseconds that a page of a large store may take on a busy machine


def end_of(column: str) -> int:
    """Where a column of the matrix ends: all stand in their order behind the name."""
    names = list(CELLS)
    return NAME + sum(int(CELLS[name][0].width) for name in names[: names.index(column) + 1])


def click_cell(page: Page, column: str, organization: str) -> None:
    """Click the cell of a column in the row of an organization, moving the table along where it is narrow.

    At its edge and not on its words: the whole cell is the button.
    """
    table = page.get_by_test_id("stDataFrame").first
    canvas = table.locator("canvas").first
    canvas.wait_for(timeout=LONG)
    canvas.scroll_into_view_if_needed()
    # told to readers a moment after it is drawn
    canvas.locator("tbody tr", has_text=organization).first.wait_for(state="attached", timeout=LONG)
    row = canvas.evaluate(
        "(canvas, name) => [...canvas.querySelectorAll('tbody tr')].findIndex(row => row.textContent.includes(name))",
        organization,
    )
    end = end_of(column)
    moved = table.locator(".dvn-scroller").evaluate(
        "(table, end) => { table.scrollLeft = Math.max(0, end - table.clientWidth); return table.scrollLeft }",
        end,
    )
    page.wait_for_timeout(300)  # drawn anew
    box = canvas.bounding_box()
    if box is None:
        raise ValueError("the table is not to be seen")
    page.mouse.click(
        box["x"] + end - int(CELLS[column][0].width) - moved + EDGE, box["y"] + HEADER + ROW * row + ROW / 2
    )


def open_row(page: Page, heading: str, row: int, height: int = USUAL_ROW) -> list[str]:
    """Click the button in the first column of a table with this heading; return what else stands in its row."""
    tables = page.get_by_test_id("stDataFrame").filter(has=page.locator("canvas th", has_text=heading))
    canvas = tables.locator("canvas").first
    read = canvas.locator("tbody tr").nth(row).locator("td")
    read.last.wait_for(state="attached")
    canvas.scroll_into_view_if_needed()
    page.wait_for_timeout(300)  # drawn anew
    box = canvas.bounding_box()
    if box is None:
        raise ValueError("the table is not to be seen")
    page.mouse.click(box["x"] + 37, box["y"] + HEADER + height * row + height / 2)
    return read.all_text_contents()
