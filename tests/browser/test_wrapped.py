"""A row of a table that breaks its texts into lines shows whole lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controls.grid import WRAPPED
from tests.app_server import AppServer
from tests.browser.cells import HEADER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser.conftest import Visit

LINES = 4
DRAWN = """
const drawn = CanvasRenderingContext2D.prototype.fillText;
window.lines = {};
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const size = this.measureText(text);
    window.lines[y.toFixed(1)] = [y - size.actualBoundingBoxAscent, y + size.actualBoundingBoxDescent];
    return drawn.apply(this, arguments);
};
"""


@pytest.fixture(scope="module")
def server() -> Iterator[AppServer]:
    started = AppServer(script="tests/browser/wrapped_page.py", PYTHONPATH=".")
    yield started
    started.stop()


def test_no_line_is_cut_through(visit: Visit, server: AppServer) -> None:
    visit.page.add_init_script(DRAWN)
    page = visit.open(server.url)
    page.locator("canvas").first.wait_for()
    page.wait_for_function("Object.keys(window.lines).length > 4")
    drawn = page.evaluate("Object.values(window.lines)")
    for row in range(3):
        top, bottom = HEADER + row * WRAPPED, HEADER + (row + 1) * WRAPPED
        lines = [(first, last) for first, last in drawn if top <= first < bottom]
        assert len(lines) == LINES
        assert all(last <= bottom for _, last in lines)
