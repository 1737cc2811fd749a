"""Three walks of an operator on a Monday morning, click by click on the demo store; docs/operating.md tells them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.browser.cells import click_cell

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from playwright.sync_api import Download, Page

    from tests.browser.conftest import Visit

    Shoot = Callable[[Page, int], None]

LONG = 90_000  # milliseconds that a worker may take on a busy machine


def got_worse(visit: Visit, url: str, shoot: Shoot) -> None:
    """Quillworks Press says that its agents' memory got worse."""
    page = visit.open(f"{url}/health?org=org_quillworks&window=7d")
    page.get_by_text(re.compile("orse than in the 7 days before")).wait_for()
    page.get_by_role("button", name="Compare the last 30 days").click()
    page.get_by_text("Worse than in the 30 days before").wait_for()
    shoot(visit.settled(), 1)
    page.get_by_role("button", name="What misled them").click()
    page.get_by_text("Named as misleading by diagnostics").wait_for()
    shoot(visit.settled(), 2)
    page.get_by_role("button", name=re.compile("weighting off")).click()
    page.get_by_text("Revert this change").wait_for(timeout=LONG)
    shoot(visit.settled(), 3)
    page.go_back()
    page.get_by_role("button", name="Did the flag cause it?").click()
    page.get_by_text("A natural experiment.").wait_for(timeout=LONG)
    shoot(visit.settled(), 4)


def switch_on(visit: Visit, url: str, shoot: Shoot) -> None:
    """Lumenfield Energy asks for the corroboration boost."""
    page = visit.open(url)
    click_cell(page, "boost", "Lumenfield Energy")
    page.get_by_label("New state").get_by_text(re.compile("flag on")).click()
    way = page.get_by_role("link", name="Is that good enough?")
    way.wait_for(timeout=LONG)
    shoot(_scrolled(page, page.get_by_text("Change a flag", exact=True)), 1)
    way.click()
    verdict = page.get_by_text(re.compile(r"^(No-go\.|Go: every|Not decided yet)"))  # the preview's begins alike
    verdict.wait_for(timeout=LONG)
    visit.settled()
    shoot(page, 2)


def send_legal(visit: Visit, url: str, shoot: Shoot) -> None:
    """Tidewater Freight's lawyers want the contradictions that nobody has settled."""
    page = visit.open(f"{url}/drift_alerts?org=org_tidewater")
    way = page.get_by_role("link", name="Hand the listed alerts on as a file")
    way.wait_for(timeout=LONG)
    shoot(visit.settled(), 1)
    way.click()
    button = page.get_by_role("button", name="PDF")
    button.wait_for(timeout=LONG)
    shoot(visit.settled(), 2)
    with page.expect_download(timeout=LONG) as taken:
        button.click()
    _require(taken.value, ".pdf")


def _require(taken: Download, ending: str) -> None:
    if not taken.suggested_filename.endswith(ending):
        raise ValueError(f"expected a file that ends in {ending}, found {taken.suggested_filename}")


def _scrolled(page: Page, to: Any) -> Page:  # noqa: ANN401 - a locator
    """The page with something at its upper edge; what is drawn late moves it once more."""
    for _ in range(2):
        page.wait_for_timeout(1500)
        to.first.evaluate("element => element.scrollIntoView({block: 'start'})")
    return page


WALKS: dict[str, Callable[[Visit, str, Shoot], None]] = {
    "walk-got-worse": got_worse,
    "walk-switch-on": switch_on,
    "walk-send-legal": send_legal,
}
