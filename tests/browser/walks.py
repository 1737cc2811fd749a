"""Three walks of an operator on a Monday morning, click by click on the demo store; docs/operating.md tells them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from tests.browser.conftest import Visit

    Shoot = Callable[[Page, int], None]


def got_worse(visit: Visit, url: str, shoot: Shoot) -> None:
    """Quillworks Press says that its agents' memory got worse."""
    page = visit.open(f"{url}/health?org=org_quillworks")
    page.get_by_text("Worse than in the 30 days before").wait_for()
    shoot(page, 1)
    page.get_by_role("link", name=re.compile("weighting off")).click()
    page.get_by_text("Predicted against realised").wait_for()
    shoot(page, 2)


WALKS: dict[str, Callable[[Visit, str, Shoot], None]] = {
    "walk-got-worse": got_worse,
}
