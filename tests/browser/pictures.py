"""Take the pictures in docs/images from a running application: ``python -m tests.browser.pictures [URL]``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright

from tests.app_server import ROOT
from tests.browser import chromium
from tests.browser.conftest import Visit

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

IMAGES = ROOT / "docs" / "images"
QUESTION = "paging through shipments skips or repeats entries"
INSPECTED = urlencode({"org": "org_tidewater", "q": QUESTION, "preset": "INTENDED", "v": "1"})
PAGES = {
    "overview": "/?window=30d",
    "inspector": f"/inspector?{INSPECTED}",
    "what-if": "/what_if?org=org_tidewater&window=30d&boost=0.2",
    "feature-flags": "/feature_flags?target=org_tidewater&days=30d",
}
Theme = Literal["light", "dark"]
# file name's end: theme, width, height
SHOTS: dict[str, tuple[Theme, int, int]] = {
    "light": ("light", 1400, 800),
    "dark": ("dark", 1400, 800),
    "light-narrow": ("light", 900, 1000),
    "dark-narrow": ("dark", 900, 1000),
}


def take(browser: Browser, url: str, folder: Path) -> None:
    """One PNG per page, theme and width."""
    for page_name, path in PAGES.items():
        for shot, (theme, width, height) in SHOTS.items():
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
            page = Visit(context).open(url + path)
            drawn = ".js-plotly-plot .bars, .js-plotly-plot .point, [data-testid=stAlert], [data-testid=stMetric]"
            page.locator(drawn).first.wait_for()
            page.locator("[data-testid=stDataFrame] canvas").first.wait_for()
            page.wait_for_timeout(1500)  # plotly and the table's canvas draw once more after they are there
            page.screenshot(path=folder / f"{page_name}-{shot}.png")
            context.close()


def main() -> None:
    """Write them all."""
    url = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8501"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.FLAGS))
        take(browser, url.rstrip("/"), IMAGES)
        browser.close()


if __name__ == "__main__":
    main()
