"""A change of a flag in a browser, step by step."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Visit


def review(visit: Visit) -> Page:
    page = visit.settled()
    page.get_by_role("button", name=re.compile("Review")).click()
    page.get_by_label("Reason", exact=True).wait_for()
    return page


def confirm(page: Page, reason: str, *, twice: bool = False) -> None:
    page.get_by_label("Reason", exact=True).fill(reason)
    button = page.get_by_role("button", name=re.compile("Confirm"))
    button.dblclick() if twice else button.click()


def told(page: Page, sentence: str) -> None:
    expect(page.locator("[data-testid=stAlert]").filter(has_text=sentence).first).to_be_visible()
