"""Who cannot see well, or uses no mouse, or has the page read out: axe in a real browser, in both themes."""

from __future__ import annotations

import ast
from itertools import product
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import psycopg
import pytest
from playwright.sync_api import expect

from controls.sections import SECTIONS
from tests import sample
from tests.app_server import ROOT, AppServer
from tests.browser.axe import look_at, unroll
from tests.browser.conftest import Visit
from tests.browser.pictures import FOLLOWED, INSPECTED, OPENED, PAGES, open_first_row
from tests.demo_server import demo_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.conftest import Cluster

# states of a page that its address alone does not show: the page, and the button that leads there
ASKED = {"flag-review": ("/feature_flags?target=org_tidewater&state=on", "Review 1 change")}
EMPTY = "org_empty"
PARTS = {f"health-{part}": f"/health?part={part}" for part in ("top", "budget", "coverage", "runs", "system")}
PANELS = {f"inspector-{panel}": f"/inspector?{INSPECTED}&show={panel}" for panel in ("block", "compare", "why", "pins")}
SCRIPTS = [entry.script.removesuffix(".py") for entries in SECTIONS.values() for entry in entries]
NOTHING = {f"{page}-empty": f"/{page}?org={EMPTY}" for page in SCRIPTS}
VIEWS = {"saved-views": "/?window=7d"}
CALENDAR = {"calendar": "/?window=custom&from=2026-01-20"}
SHOWN = {
    **PAGES, **PARTS, **PANELS, **NOTHING, **VIEWS, **CALENDAR, "search": "/?search=tidewater",
    **{name: path for name, (path, _) in ASKED.items()},
}  # fmt: skip
Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
LOOKS: tuple[tuple[Theme, int], ...] = tuple(product(THEMES, (1400, 900)))
DRAWN = ".js-plotly-plot .bars, .js-plotly-plot .point, [data-testid=stMetric], [data-testid=stAlert]"
STOPS = 80  # of the Tab key on one page at most; the last ones of the longest are not reached
# Of a table that is drawn on a canvas: the table, whose cell has a frame there.
FOCUSED = """() => {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    // a date's calendar closes when Tab leaves the field, and not when a script does: it stands behind the page's end
    if (element.closest("[data-testid=stDateInputCalendar]")) return null;
    element.scrollIntoView({block: "nearest"});
    const table = element.closest("[data-testid=stDataFrame]");
    const cell = table && element.matches("td");
    const box = (cell ? table : element).getBoundingClientRect();
    return {cell, x: box.x, y: box.y, width: box.width, height: box.height, html: element.outerHTML.slice(0, 120)};
}"""
FEWEST_STOPS = 5
LEAVE = """() => {
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


@pytest.fixture(scope="module")
def server(cluster: Cluster, template: str) -> Iterator[AppServer]:
    """Two organizations with a week of retrievals, one of which was logged incompletely."""
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        for org, title in (("org_a", "Acme"), ("org_b", "Birch")):
            sample.add_organization(owner, org, title, features={"feedback_weighting_disabled": org == "org_b"})
            sample.add_observations(owner, org, 5)
            for day in range(1, 8):
                sample.add_session(owner, org, f"s{day}", days_ago=day)
                sample.add_retrieval(owner, org, sample.swapped(8, 4, 4 + day % 2), name=f"r{day}", days_ago=day)
            sample.add_retrieval(owner, org, [(0, 0), (2, 1)], name="gap")
    started = AppServer(DATABASE_URL=cluster.plain_url("dash_read", name))
    yield started
    started.stop()
    cluster.drop(name)


@pytest.fixture(scope="module")
def demo(cluster: Cluster, template: str) -> Iterator[AppServer]:
    with demo_server(cluster, template, aggregated=True) as started:
        name = urlsplit(started.environment["DATABASE_URL"]).path.removeprefix("/")
        with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
            sample.add_organization(owner, EMPTY, "Empty")
        yield started


def opened(browser: Browser, url: str, theme: Theme, width: int = 1400) -> Visit:
    """A page in a theme once its charts and figures are drawn."""
    visit = Visit(browser.new_context(viewport={"width": width, "height": 1000}, color_scheme=theme))
    visit.open(url).locator(DRAWN).first.wait_for()
    return visit


def save_a_view(visit: Visit, title: str) -> None:
    """Open the saved views and keep the present page among them."""
    visit.page.get_by_text("Saved views", exact=True).click()
    visit.page.get_by_role("textbox", name="Name of this view").fill(title)
    visit.page.get_by_role("textbox", name="Name of this view").press("Enter")
    visit.settled()
    visit.page.get_by_role("button", name="Save this view").click()
    visit.page.get_by_role("button", name="Open this view").wait_for()


def described(page: Page) -> list[str | None]:
    """What is read out in place of each chart."""
    found: list[str | None] = page.locator("[data-testid=stPlotlyChart]").evaluate_all(NAMES)
    return found


NAMES = """charts => charts.map(chart => {
    const named = [chart, ...chart.querySelectorAll("[aria-label], [aria-labelledby]")];
    return named.map(element => element.getAttribute("aria-label")).find(Boolean) ?? null;
})"""


@pytest.mark.parametrize("theme", THEMES)
def test_the_first_page_has_no_grave_finding(browser: Browser, server: AppServer, theme: Theme) -> None:
    visit = opened(browser, server.url, theme)
    assert look_at(visit.page) == []
    assert all(described(visit.page))
    visit.page.context.close()


@pytest.mark.long
@pytest.mark.parametrize("name", SHOWN)
def test_no_page_has_a_grave_finding_in_either_theme_and_width(browser: Browser, demo: AppServer, name: str) -> None:
    """Every page and part, what its first row or its button opens, and an empty organization, in the demo's store."""
    for theme, width in LOOKS:
        visit = opened(browser, demo.url + SHOWN[name], theme, width)
        unroll(visit.page)  # a calendar closes when its window becomes taller
        if name in OPENED:
            open_first_row(visit.page, OPENED[name])
        if name in FOLLOWED:
            visit.page.get_by_text(OPENED[name]).click()
            visit.page.get_by_text(FOLLOWED[name]).wait_for()
        if name in ASKED:
            visit.page.get_by_role("button", name=ASKED[name][1]).click()
            visit.page.get_by_role("dialog").wait_for()
        if name in CALENDAR:
            visit.page.locator("[data-testid=stDateInput] [role=spinbutton]").first.click()
            visit.page.get_by_test_id("stDateInputCalendar").wait_for()
        if name in VIEWS:
            save_a_view(visit, f"{theme} {width}")
        visit.settled()
        visit.page.wait_for_timeout(1000)  # what fades in is pale until then
        assert look_at(visit.page) == []
        assert None not in described(visit.page)
        assert visit.foreign_requests(demo.url) == []
        visit.page.context.close()


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
        if without == with_focus:
            unseen.append(box["html"])
    return unseen, stops


@pytest.mark.long
@pytest.mark.parametrize("theme", THEMES)
def test_the_focus_of_the_keyboard_is_seen(browser: Browser, server: AppServer, theme: Theme) -> None:
    """What has the focus looks different from the same without it, from the top of the sidebar to the end."""
    visit = opened(browser, f"{server.url}/?org=org_a", theme)
    unseen, stops = without_a_sign(visit.page)
    visit.page.context.close()
    assert unseen == []
    assert stops >= len(PAGES)


@pytest.mark.long
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", PAGES)
def test_the_focus_is_seen_in_every_page(browser: Browser, demo: AppServer, name: str, theme: Theme) -> None:
    """From where the first stop of all leads, which passes the sidebar over."""
    visit = opened(browser, demo.url + PAGES[name], theme)
    visit.page.keyboard.press("Tab")
    expect(visit.page.get_by_role("link", name="Skip to main content")).to_be_focused()
    visit.page.keyboard.press("Enter")
    unseen, stops = without_a_sign(visit.page)
    visit.page.context.close()
    assert unseen == []
    assert stops >= FEWEST_STOPS


def test_every_chart_says_in_words_what_it_shows() -> None:
    """``alt`` is what is read out; Plotly's picture alone is silent."""
    silent, charts = [], 0
    for folder in ("pages", "controls"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "plotly_chart":
                    charts += 1
                    named = {keyword.arg for keyword in node.keywords}
                    silent += [] if "alt" in named else [f"{path.name}:{node.lineno}"]
    assert silent == []
    assert charts > 20, "the charts have moved to where nobody looks"
