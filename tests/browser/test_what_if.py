"""What-if in a real browser: knobs in the address, a click on the map, both themes, and no complaints."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid5

import psutil
import pytest
from playwright.sync_api import expect

from tests import sample
from tests.analysis.replay.planted_log import plant, plant_organization
from tests.app_server import AppServer
from tests.browser.cells import open_row
from tests.browser.conftest import Visit
from tests.hostile import TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from playwright.sync_api import Browser, Locator, Page

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

SOON = 40_000  # milliseconds; a worker has to start first
PROBES = ("/_stcore/health", "/_stcore/host-config")


@pytest.fixture(scope="module")
def server(cluster: Cluster, database: str, keeper: Owner) -> Iterator[AppServer]:
    """One organization with vectors and hostile texts."""
    plant_organization(keeper, "org_a", "Acme", **{f"text_{n}": TEXTS[n].ljust(40)[:40] for n in range(3)})
    plant(keeper, "org_a", "again")
    for number in range(3):
        keeper.execute(
            "insert into observation_embeddings (org_id, observation_id, route, embedding) "
            "values ('org_a', %s, 'full', %s)",
            (uuid5(sample.NAMESPACE, f"org_a/{number}"), f"[{number},1]"),
        )
    started = AppServer(DATABASE_URL=cluster.plain_url("dash_read", database))
    yield started
    started.stop()


def complaints(visit: Visit) -> list[str]:
    """Console errors that are not Streamlit's own two probes of a deep link, each answered 404 once."""
    probes = [url for url in visit.requests if url.endswith(PROBES) and "/what_if/" in url]
    missing = [text for text in visit.complaints if "404" in text]
    return [text for text in visit.complaints if "404" not in text] + missing[len(probes) :]


def shown(page: Page) -> Page:
    """The page once both the figures and the map are there."""
    expect(page.locator("[data-testid=stMetricValue]")).to_have_count(5, timeout=SOON)
    page.locator(".js-plotly-plot .heatmaplayer image").first.wait_for(timeout=SOON)
    return page


def box(shown: Locator) -> dict[str, float]:
    found = shown.bounding_box()
    assert found is not None
    return {"x": found["x"], "y": found["y"], "width": found["width"], "height": found["height"]}


@contextmanager
def held_workers(server: AppServer) -> Iterator[None]:
    """Nothing that a page asks for is computed meanwhile: the processes that would, and were at work before, stand."""
    workers = [child for child in psutil.Process(server.process.pid).children() if "jobs.worker" in child.cmdline()]
    assert workers
    for worker in workers:
        worker.suspend()
    try:
        yield
    finally:
        for worker in workers:
            worker.resume()


def slider(page: Page, label: str) -> str:
    return page.get_by_role("slider", name=label).get_attribute("aria-valuetext") or ""


@pytest.mark.parametrize(("width", "most"), [(900, 0.5), (1400, 0)])  # a bar and its gap are half a pixel too tall
def test_knobs_stay_where_they_are_while_it_replays(
    browser: Browser, server: AppServer, width: int, most: float
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 1000})
    asked = f"{server.url}/what_if?org=org_a&lam={{}}"
    page = shown(Visit(context).open(asked.format(0.6 if width > 1000 else 0.7)))
    knob = page.get_by_text("Token budget", exact=True)
    with held_workers(server):
        page.goto(asked.format(0.9 if width > 1000 else 0.78))
        expect(page.get_by_text("not replayed yet under these settings")).to_be_visible(timeout=SOON)
        expect(page.get_by_text("Replaying the log")).to_be_visible()
        before = box(knob)
    shown(page)
    expect(page.get_by_text("coverage 100 %")).to_be_visible()
    after = box(knob)
    assert abs(after["y"] - before["y"]) <= most
    assert after | {"y": 0} == before | {"y": 0}
    context.close()


@pytest.mark.parametrize(("width", "beside"), [(900, False), (1100, False), (1250, True), (1400, True)])
def test_the_knobs_stand_beside_the_picture_or_below_it(
    browser: Browser, server: AppServer, width: int, *, beside: bool
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 1000})
    page = shown(Visit(context).open(f"{server.url}/what_if?org=org_a"))
    picture, knob = box(page.locator(".js-plotly-plot").first), box(page.get_by_text("Feedback weighting", exact=True))
    if beside:
        assert knob["x"] >= picture["x"] + picture["width"]
        assert knob["y"] < picture["y"] + 100
    else:
        assert knob["y"] >= picture["y"] + picture["height"]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    context.close()


def test_a_knob_goes_into_the_address_and_survives_a_reload(visit: Visit, server: AppServer) -> None:
    page = shown(visit.open(f"{server.url}/what_if?org=org_a"))
    assert slider(page, "Token budget") == "as logged"
    page.get_by_role("slider", name="Token budget").press("ArrowRight")
    expect(page).to_have_url(re.compile(r"tokens=100"))
    segment = page.get_by_role("button", name="off", exact=True)
    segment.or_(page.get_by_role("radio", name="off", exact=True)).first.click()
    expect(page).to_have_url(re.compile(r"w=off"))
    # a hundred tokens hold all three texts of ten: the one that was outside enters, none leaves
    expect(page.locator("[data-testid=stMetricDelta]").last).to_have_text(re.compile("▲ 2 ▼ 0"), timeout=SOON)
    page.reload()
    visit.settled()
    shown(page)
    assert slider(page, "Token budget") == "100"
    expect(page.locator("[data-testid=stMetricDelta]").last).to_have_text(re.compile("▲ 2 ▼ 0"), timeout=SOON)
    assert complaints(visit) == []
    assert visit.foreign_requests(server.url) == []
    assert visit.dialogs == []


@pytest.mark.long
def test_a_click_on_the_map_turns_both_knobs(visit: Visit, server: AppServer) -> None:
    page = shown(visit.open(f"{server.url}/what_if?org=org_a"))
    cell = page.locator(".js-plotly-plot .scatterlayer .point").nth(3 * 5 + 2)  # the fourth row, the third λ
    cell.scroll_into_view_if_needed()
    page.wait_for_timeout(500)  # plotly listens a moment after it has drawn
    box = cell.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page).to_have_url(re.compile(r"lam=0\.9&boost=0\.1"), timeout=SOON)
    visit.settled()
    shown(page)
    assert (slider(page, "λ: relevance vs. variety"), slider(page, "Boost scale")) == ("0.9", "0.1")
    page.go_back()  # one click is one step
    expect(page).not_to_have_url(re.compile("lam=|boost="))
    page.go_forward()
    expect(page).to_have_url(re.compile(r"lam=0\.9&boost=0\.1"))
    visit.settled()
    shown(page)
    page.get_by_role("button", name="Reset to as logged").click()
    expect(page).not_to_have_url(re.compile("lam="))
    visit.settled()
    assert complaints(visit) == []


@pytest.mark.long
def test_a_flip_opens_its_observation_and_going_back_leads_to_the_list(visit: Visit, server: AppServer) -> None:
    page = shown(visit.open(f"{server.url}/what_if?org=org_a&w=off"))
    here, row = page.url, open_row(page, "In or out", 1)
    opened = str(uuid5(sample.NAMESPACE, f"org_a/{0 if 'enters' in ' '.join(row) else 2}"))
    assert opened in row
    expect(page).to_have_url(re.compile(f"/observation\\?.*observation={opened}"))
    page.go_back()
    expect(page).to_have_url(here)
    shown(page)
    assert complaints(visit) == []


@pytest.mark.long
@pytest.mark.parametrize(("theme", "width"), [("light", 1400), ("dark", 900)])
def test_it_fits_both_themes_and_widths(browser: Browser, server: AppServer, theme: str, width: int) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 1000},
        color_scheme="dark" if theme == "dark" else "light",
    )
    visit = Visit(context)
    page = shown(visit.open(f"{server.url}/what_if?org=org_a&w=off"))
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert complaints(visit) == []
    assert visit.foreign_requests(server.url) == []
    context.close()
