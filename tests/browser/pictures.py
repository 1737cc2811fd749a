"""Take the pictures in docs/images: ``python -m tests.browser.pictures [URL] [NAME …]``.

Without an address a demo store is made for them and taken away again; without names all are taken, the pages in both
themes and two widths, the walks of docs/operating.md, and the drift report of docs/reports.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlencode

import pypdfium2
from PIL import Image
from playwright.sync_api import sync_playwright

from tests.app_server import ROOT, AppServer
from tests.browser import chromium
from tests.browser.conftest import Visit
from tests.browser.walks import LONG, WALKS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

IMAGES = ROOT / "docs" / "images"
QUESTION = "paging through shipments skips or repeats entries"
INSPECTED = urlencode({"org": "org_tidewater", "q": QUESTION, "preset": "INTENDED", "v": "1"})
PAGES = {
    "overview": "/?window=30d",
    "health": "/health?window=30d",
    "health-budget": "/health?window=30d&part=budget",
    "health-coverage": "/health?window=30d&part=coverage",
    "inspector": f"/inspector?{INSPECTED}",
    "observation": f"/inspector?{urlencode({'org': 'org_tidewater', 'q': 'how often the embargo exporter sends'})}",
    "what-if": "/what_if?org=org_tidewater&window=30d&boost=0.2",
    "feature-flags": "/feature_flags?target=org_tidewater&state=on&days=30d",
    "corroboration": "/corroboration?org=org_tidewater",
    "feedback-impact": "/feedback_impact?org=org_tidewater",
    "feedback-impact-retrieval": "/feedback_impact?org=org_tidewater",
    "drift-alerts": "/drift_alerts?org=org_tidewater",
    "drift-alerts-opened": "/drift_alerts?org=org_tidewater",
}
HEIGHTS = {
    "feature-flags": 1250,
    "corroboration": 1480,
    "feedback-impact": 1480,
    "health": 1560,
    "health-budget": 1100,
    "health-coverage": 1100,
    "inspector": 1100,
    "observation": 1100,
    "drift-alerts": 1400,
    "drift-alerts-opened": 1500,
}  # where the first screen would cut the main picture
NARROW_HEIGHTS = {"health": 1950, "health-budget": 1500, "health-coverage": 1700}  # and where a narrow one would
WITHOUT_TABLE = ("health-coverage",)
# the first row's "Open" leads there
OPENED = {
    "feedback-impact-retrieval": "Opened retrieval",
    "drift-alerts-opened": "Shown by",
    "observation": "Its whole life",
}
REPORT, REPORTED = "drift_report", "/drift_alerts?org=org_tidewater&window=30d"
FOLLOWED = {"observation": "All of its life is shown"}  # a link that was opened is followed, to a page that says this
WIDE = 1400
Theme = Literal["light", "dark"]
# file name's end: theme, width, height
SHOTS: dict[str, tuple[Theme, int, int]] = {
    "light": ("light", WIDE, 800),
    "dark": ("dark", WIDE, 800),
    "light-narrow": ("light", 900, 1000),
    "dark-narrow": ("dark", 900, 1000),
}


def take(browser: Browser, url: str, folder: Path, names: list[str]) -> None:
    """One PNG per page, theme and width."""
    for page_name in names:
        path = PAGES[page_name]
        for shot, (theme, width, height) in SHOTS.items():
            tall = (NARROW_HEIGHTS if width < WIDE else {}).get(page_name) or HEIGHTS.get(page_name, height)
            context = browser.new_context(viewport={"width": width, "height": tall}, color_scheme=theme)
            page = Visit(context).open(url + path)
            drawn = ".js-plotly-plot .bars, .js-plotly-plot .point, [data-testid=stAlert], [data-testid=stMetric]"
            page.locator(drawn).first.wait_for()
            if page_name not in WITHOUT_TABLE:
                page.locator("[data-testid=stDataFrame] canvas").first.wait_for()
            if page_name in OPENED:
                open_first_row(page, OPENED[page_name])
            if page_name in FOLLOWED:
                page.get_by_text(OPENED[page_name]).click()
                page.get_by_text(FOLLOWED[page_name]).wait_for()
                page.locator(drawn).first.wait_for()
            page.wait_for_timeout(1500)  # plotly and the table's canvas draw once more after they are there
            page.screenshot(path=folder / f"{page_name}-{shot}.png")
            context.close()


def open_first_row(page: Page, heading: str) -> None:
    """Open what the first row of the first table leads to, and bring it into view."""
    table = page.locator("[data-testid=stDataFrame] canvas").first
    table.scroll_into_view_if_needed()
    page.wait_for_timeout(1000)
    table.click(position={"x": 37, "y": 52}, force=True)  # what lies over the canvas takes the click
    found = page.get_by_text(heading)
    found.wait_for()
    page.wait_for_timeout(2000)  # what is below it is drawn, and moves it
    found.evaluate("element => element.scrollIntoView({block: 'start'})")


def walk(browser: Browser, url: str, folder: Path, names: list[str]) -> None:
    """The pictures of the walks, as small as a reader can still read them."""
    for name in names:
        context = browser.new_context(viewport={"width": 1100, "height": 900}, color_scheme="light")

        def shoot(page: Page, step: int, name: str = name) -> None:
            page.wait_for_timeout(1500)  # plotly and the table's canvas draw once more after they are there
            page.screenshot(path=folder / f"{name}-{step}.png")

        WALKS[name](Visit(context), url, shoot)
        context.close()


def print_report(browser: Browser, url: str, folder: Path) -> None:
    """The first two pages of the PDF that Drift Alerts hands out, side by side: its figures, and its first alerts."""
    context = browser.new_context()
    page = Visit(context).open(url + REPORTED)
    with page.expect_download(timeout=LONG) as download:
        page.get_by_role("button", name="PDF", exact=True).click(timeout=LONG)
    document = pypdfium2.PdfDocument(download.value.path())
    sheets = [document[number].render(scale=1.15).to_pil() for number in range(2)]
    context.close()
    picture = Image.new("RGB", (sum(sheet.width for sheet in sheets), sheets[0].height))
    for number, sheet in enumerate(sheets):
        picture.paste(sheet, (number * sheets[0].width, 0))
    # a page has a dozen colours: a palette shows them, and takes a third of the room
    picture.quantize(64).save(folder / f"{REPORT}.png", optimize=True)


@contextmanager
def demo_application() -> Iterator[str]:
    """The application over a demo store of its own."""
    with tempfile.TemporaryDirectory(prefix="rankscope-pictures-") as folder:
        data = f"{folder}/store"
        for job in (("demo", "--if-empty"), ("aggregate",)):
            command = [sys.executable, "-m", "jobs", *job]
            subprocess.run(command, cwd=ROOT, env=os.environ | {"RANKSCOPE_DATA": data}, check=True)
        server = AppServer(RANKSCOPE_DATA=data)
        try:
            yield server.url
        finally:
            server.stop()


def main() -> None:
    """Write them all, or the ones that are named."""
    told = sys.argv[1:]
    wanted = [name for name in told if not name.startswith("http")] or [*PAGES, *WALKS, REPORT]
    given = [nullcontext(name.rstrip("/")) for name in told if name.startswith("http")]
    with given[0] if given else demo_application() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.FLAGS))
        take(browser, url, IMAGES, [name for name in wanted if name in PAGES])
        walk(browser, url, IMAGES, [name for name in wanted if name in WALKS])
        if REPORT in wanted:
            print_report(browser, url, IMAGES)
        browser.close()


if __name__ == "__main__":
    main()
