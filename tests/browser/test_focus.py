"""Who uses no mouse: what has the focus of the keyboard can be seen, on every page in both themes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.pictures import OPENED, PAGES
from tests.browser.states import THEMES, Demo, Theme, opened, reach, serve_demo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.conftest import Cluster

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]  # each stop takes a second, two on a busy machine
STOPS = 150  # of the Tab key on one page: more than any has
FEWEST_STOPS = 5
# Of a table that is drawn on a canvas: the table, whose cell has a frame there.
FOCUSED = """() => {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    // a date's calendar closes when Tab leaves the field, and not when a script does: it stands behind the page's end
    if (element.closest("[data-testid=stDateInputCalendar]")) return null;
    if (element.wasStopOfTab) return null;  // from the end of the page Tab leads to its beginning
    element.wasStopOfTab = true;
    element.scrollIntoView({block: "nearest"});
    const table = element.closest("[data-testid=stDataFrame]");
    const cell = table && element.matches("td");
    const box = (cell ? table : element).getBoundingClientRect();
    let opacity = 1;  // a tooltip's shadow is no sign of a button that is not drawn
    for (let above = element; above; above = above.parentElement) opacity *= getComputedStyle(above).opacity;
    const html = element.outerHTML.slice(0, 120);
    return {cell, opacity, html, x: box.x, y: box.y, width: box.width, height: box.height};
}"""
LEAVE = """() => {
    window.stop_of_tab = document.activeElement;
    const table = document.activeElement.closest("[data-testid=stDataFrame]");
    if (table && document.activeElement.matches("td"))
        table.querySelector("[data-testid=stDataFrameResizable]").focus();
    else
        document.activeElement.blur();
    // a Tab would have closed it; it may lie over what comes next
    for (const calendar of document.querySelectorAll("[data-testid=stDateInputCalendar]"))
        for (let box = calendar; box && !box.matches("body, [data-testid=stApp]"); box = box.parentElement)
            if (["absolute", "fixed"].includes(getComputedStyle(box).position) || box === calendar)
                box.style.visibility = "hidden";
}"""

RETURN = "() => window.stop_of_tab.focus({preventScroll: true})"  # Tab goes on from there, as after no interruption


@pytest.fixture(scope="module")
def demo(cluster: Cluster, template: str) -> Iterator[Demo]:
    yield from serve_demo(cluster, template)


def without_a_sign(page: Page) -> tuple[list[str], int]:
    """What looks the same with the focus as without it, and how many stops the Tab key made from here on."""
    unseen, stops = [], 0
    for _ in range(STOPS):
        page.keyboard.press("Tab")
        page.wait_for_timeout(400)  # a table's own buttons fade in
        box = page.evaluate(FOCUSED)
        if box is None:
            break
        stops += 1
        clip = (max(box["x"] - 6, 0), max(box["y"] - 6, 0), box["width"] + 12, box["height"] + 12)
        area = dict(zip(("x", "y", "width", "height"), clip, strict=True))
        with_focus = page.screenshot(clip=area, caret="hide")  # type: ignore[arg-type]
        page.evaluate(LEAVE)
        page.wait_for_timeout(400)
        without = page.screenshot(clip=area, caret="hide")  # type: ignore[arg-type]
        if without == with_focus and box["cell"]:
            # a table that keeps its ring when it is left: the next cell has it then
            page.keyboard.press("Tab")
            page.wait_for_timeout(400)
            without = page.screenshot(clip=area, caret="hide")  # type: ignore[arg-type]
        if not box["cell"]:
            page.evaluate(RETURN)
        if without == with_focus or box["opacity"] == 0:
            unseen.append(box["html"])
    assert stops < STOPS, "the end of the page was not reached"
    return unseen, stops


@pytest.mark.parametrize("theme", THEMES)
def test_it_is_seen_from_the_top_of_the_sidebar_on(browser: Browser, demo: Demo, theme: Theme) -> None:
    """What has the focus looks different from the same without it."""
    visit = opened(browser, f"{demo.url}/?org=org_tidewater", theme)
    unseen, stops = without_a_sign(visit.page)
    visit.page.context.close()
    assert unseen == []
    assert stops >= len(PAGES)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", PAGES)
def test_it_is_seen_on_every_page(browser: Browser, demo: Demo, name: str, theme: Theme) -> None:
    """From where the first stop of all leads, which passes the sidebar over."""
    visit = opened(browser, demo.address(name), theme)
    reach(visit, name)
    skip = visit.page.get_by_role("link", name="Skip to main content")
    if name in OPENED:
        skip.focus()  # Tab would go on from what was pressed
    else:
        visit.page.keyboard.press("Tab")
    expect(skip).to_be_focused()
    visit.page.keyboard.press("Enter")
    unseen, stops = without_a_sign(visit.page)
    visit.page.context.close()
    assert unseen == []
    assert stops >= FEWEST_STOPS
