"""Folds and lists as an operator uses them: what unfolds has come to rest before something in or below it is clicked.

A list closes when the page scrolls, and a page scrolls while a fold grows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

RESTS = "fold => fold.open && !fold.style.height && fold.scrollHeight <= fold.clientHeight"
TRIES = 20
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def unfold(page: Page, title: str) -> Locator:
    """Open the fold with a title, and return it once it shows all that it holds and grows no more."""
    fold = page.locator("details").filter(has=page.locator("summary", has_text=title))
    fold.locator("summary").click()
    fold.locator("[data-testid=stSkeleton]").first.wait_for(state="detached")
    page.wait_for_function(RESTS, arg=fold.element_handle())
    return fold


def open_list(page: Page, label: str) -> Locator:
    """Open a list to choose from and return its options; whoever sees it close as the page scrolls opens it again."""
    choice, listed = page.get_by_role("combobox", name=label), page.get_by_role("listbox")
    choice.scroll_into_view_if_needed()
    for _ in range(TRIES):
        page.evaluate(TWO_FRAMES)  # a scroll is told in the frame after it
        if not listed.count():
            choice.click()
        page.evaluate(TWO_FRAMES)
        if listed.count():
            break
    expect(listed).to_be_visible()
    return page.get_by_role("option")


def close_list(page: Page) -> None:
    """Close the list that is open: while it is, a click beside it only closes it."""
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_have_count(0)
