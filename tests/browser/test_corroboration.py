"""Corroboration in a real browser: sliders in the address, a lasso that lists, a cluster by link, files that parse."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING
from uuid import UUID

import psycopg
import pytest
from playwright.sync_api import expect

from tests import sample
from tests.analysis.corroboration.agreeing import COPIED, SAID, plant
from tests.app_server import AppServer
from tests.browser.conftest import Visit
from tests.hostile import TEXTS
from tests.memories import add_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.conftest import Cluster

SOON = 60_000  # milliseconds; a worker has to start first
PROBES = ("/_stcore/health", "/_stcore/host-config")
HOSTILE = TEXTS[:6]


@pytest.fixture(scope="module")
def server(cluster: Cluster, template: str) -> Iterator[AppServer]:
    """One organization: three copies, a pair, hostile texts twice each, and one retrieval."""
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        plant(owner, "org_a", [*SAID, *((text, text[:40], "s9", "api", 1.0) for text in HOSTILE for _ in range(2))])
        sample.add_retrieval(owner, "org_a", sample.unchanged(1), name="r")
        sample.add_organization(owner, "org_b")
        add_memory(owner, "org_b", 900, COPIED)
    started = AppServer(
        DATABASE_URL=cluster.plain_url("dash_read", name), RANKSCOPE_WRITE_URL=cluster.plain_url("dash_write", name)
    )
    yield started
    started.stop()
    cluster.drop(name)


def opened(visit: Visit, address: str) -> Page:
    visit.page.goto(address)
    return shown(visit.page)


def shown(page: Page) -> Page:
    """The page once its figures are there and nothing is being looked for any more."""
    expect(page.locator("[data-testid=stMetricValue]").nth(4)).to_have_text(re.compile("%|—"), timeout=SOON)
    expect(page.get_by_text("being looked for")).to_have_count(0, timeout=SOON)
    expect(page.locator("[data-testid=stProgress]")).to_have_count(0, timeout=SOON)
    return page


def figure(page: Page, place: int) -> str:
    return page.locator("[data-testid=stMetricValue]").nth(place).inner_text()


def complaints(visit: Visit) -> list[str]:
    """Console errors that are not Streamlit's own two probes of a deep link, each answered 404 once."""
    probes = [url for url in visit.requests if url.endswith(PROBES) and "/corroboration/" in url]
    missing = [text for text in visit.complaints if "404" in text]
    return [text for text in visit.complaints if "404" not in text] + missing[len(probes) :]


def test_how_many_of_thousands_two_agents_stand_behind_is_not_cut(visit: Visit, server: AppServer) -> None:
    page = opened(visit, f"{server.url}/corroboration?org=org_a")
    beside = page.locator("[data-testid=stMetricDelta] p").nth(1)
    expect(beside).to_have_text(re.compile(r"^\d+ by 2\+ agents$"))
    beside.evaluate("text => { text.textContent = '9,876 by 2+ agents' }")
    assert beside.locator("..").evaluate("around => around.scrollWidth <= around.clientWidth")


@pytest.mark.long
def test_a_slider_goes_into_the_address_and_survives_a_reload(visit: Visit, server: AppServer) -> None:
    page = opened(visit, f"{server.url}/corroboration?org=org_a&show=sizes&bits=1")
    slider = page.get_by_role("slider", name="SimHash threshold")
    slider.press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"bits=0"))
    expect(page.locator(".js-plotly-plot").first).to_contain_text("at 0 bits", timeout=SOON)
    before = [figure(page, place) for place in range(4)]
    page.reload()
    shown(page)
    assert page.get_by_role("slider", name="SimHash threshold").get_attribute("aria-valuetext") == "0"
    assert [figure(page, place) for place in range(4)] == before
    assert complaints(visit) == []
    assert visit.foreign_requests(server.url) == []


# Where every mark lies in the window, the cluster that it stands for, and "" where it is in none.
MARKS = """gd => gd._fullData.flatMap(trace => (trace.customdata || []).map((each, at) => {
    const box = gd.querySelector(".nsewdrag").getBoundingClientRect(), {xaxis, yaxis} = gd._fullLayout;
    return [each[0], box.x + xaxis.d2p(trace.x[at]), box.y + yaxis.d2p(trace.y[at])];
}))"""


def _apart(marks: list[tuple[str, float, float]], name: str) -> tuple[str, float, float, float, float] | None:
    """A cluster and a rectangle that holds its marks and no other, if there is one."""
    xs, ys = zip(*((x, y) for each, x, y in marks if each == name), strict=True)
    left, top, right, bottom = min(xs) - 8, min(ys) - 8, max(xs) + 8, max(ys) + 8
    held = {each for each, x, y in marks if left <= x <= right and top <= y <= bottom}
    return (name, left, top, right, bottom) if held == {name} else None


def marks_of(page: Page) -> list[tuple[str, float, float]]:
    chart = page.locator(".js-plotly-plot").nth(1)
    chart.locator(".scatterlayer .point").first.wait_for(timeout=SOON)
    page.wait_for_timeout(1_000)  # plotly draws once more after it is there
    chart.evaluate("gd => gd.scrollIntoView({block: 'center'})")
    found: list[tuple[str, float, float]] = chart.evaluate(MARKS)
    return found


def test_a_click_on_a_mark_opens_its_cluster_and_a_link_leads_to_it(visit: Visit, server: AppServer) -> None:
    """Also a second time, after it was closed; and from a link, whose first screen is the page's top."""
    page = opened(visit, f"{server.url}/corroboration?org=org_a&bits=0")
    heading, way = page.get_by_role("heading", name="Opened cluster"), page.get_by_role("link", name="Go to the opened")
    for _ in range(2):
        name, x, y = next(mark for mark in marks_of(page) if mark[0])
        page.mouse.click(x, y)
        expect(page).to_have_url(re.compile(f"cluster={name}"), timeout=SOON)
        shown(page)
        expect(heading).to_be_visible(timeout=SOON)
        expect(way).to_have_count(2)
        page.get_by_role("button", name="Close").click()
        expect(page).not_to_have_url(re.compile("cluster="), timeout=SOON)
        expect(heading).to_have_count(0, timeout=SOON)  # the map that is drawn above it is another one then
        visit.settled()
        shown(page)
    expect(way).to_have_count(0)
    opened(visit, f"{server.url}/corroboration?org=org_a&bits=0&cluster={name}")
    expect(heading).not_to_be_in_viewport()
    expect(way.first).to_be_in_viewport()
    way.first.click()
    expect(heading).to_be_in_viewport()


def test_a_lasso_lists_what_it_holds(visit: Visit, server: AppServer, cluster: Cluster) -> None:
    """Around the marks of one cluster: every member of it and no other observation, by their ids."""
    page = opened(visit, f"{server.url}/corroboration?org=org_a&bits=0")
    page.get_by_role("radio", name="Drag lists an area").click()
    expect(page).to_have_url(re.compile("mouse=drag"))
    shown(page)
    marks = marks_of(page)
    chosen, left, top, right, bottom = next(filter(None, (_apart(marks, name) for name, *_ in marks if name)))
    places = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top + 2)]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=12)
    page.mouse.up()
    expect(page).to_have_url(re.compile("area="), timeout=SOON)
    expect(page.get_by_text(re.compile(r"\d+ observations in this area"))).to_be_visible(timeout=SOON)
    told = page.get_by_text(re.compile(r"\d+ observations in this area")).inner_text()
    database = server.environment["DATABASE_URL"].rsplit("/", 1)[1].split("?")[0]
    alike = f"select content from observations where id = '{UUID(chosen)}'"  # noqa: S608 - a UUID
    same = f"select id::text from observations where org_id = 'org_a' and project_id = 'api' and content = ({alike})"  # noqa: S608
    expected = {row[0] for row in cluster.run(same, database)}
    assert told == f"{len(expected)} observations in this area."
    with page.expect_download(timeout=SOON) as download:
        page.get_by_role("button", name="Download JSON").click()
    assert {row["observation"] for row in json.loads(download.value.path().read_text(encoding="utf-8"))} == expected
    page.reload()
    expect(page.get_by_text(told)).to_be_visible(timeout=SOON)
    page.get_by_role("button", name="Whole map").click()
    expect(page).not_to_have_url(re.compile("area="), timeout=SOON)


@pytest.mark.long
@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_a_cluster_opens_by_its_link_with_hostile_text_literal(visit: Visit, server: AppServer, place: int) -> None:
    """Its text stands in the panel as it was written, and so it does in the tables, with who said it."""
    number = len(SAID) + 1 + 2 * place
    page = opened(visit, f"{server.url}/corroboration?org=org_a&bits=0&show=sizes&cluster={number:032x}")
    expect(page.get_by_role("heading", name="Opened cluster")).to_be_visible(timeout=SOON)
    assert HOSTILE[place] in (page.locator("[data-testid=stCode]").first.text_content(timeout=SOON) or "")
    for text in HOSTILE:
        assert text.encode() in visit.received
        assert text[:40].encode() in visit.received
    page.get_by_role("button", name="Close").click()
    expect(page).not_to_have_url(re.compile("cluster="), timeout=SOON)
    assert page.evaluate("window.__x") is None
    assert visit.dialogs == []
    assert visit.foreign_requests(server.url) == []


@pytest.mark.long
def test_files_hold_exactly_what_the_filter_leaves(visit: Visit, server: AppServer, cluster: Cluster) -> None:
    page = opened(visit, f"{server.url}/corroboration?org=org_a&bits=0&show=sizes&kind=independent")
    taken = {}
    for form in ("CSV", "JSON"):
        with page.expect_download(timeout=SOON) as download:
            page.get_by_role("button", name=f"Download {form}").click()
        assert re.fullmatch(rf"corroboration-[0-9a-f]{{32}}\.{form.lower()}", download.value.suggested_filename)
        taken[form] = download.value.path().read_text(encoding="utf-8-sig")
    rows = json.loads(taken["JSON"])
    assert [(row["agent"], row["canonical"], row["text"]) for row in rows] == [
        ("bob", True, COPIED), ("ann", False, COPIED), ("ann", False, COPIED)
    ]  # fmt: skip
    assert {row["boost_by_agents"] for row in rows} == {0.1}
    told = list(csv.DictReader(io.StringIO(taken["CSV"], newline="")))
    assert [row["observation"] for row in told] == [row["observation"] for row in rows]
    database = server.environment["DATABASE_URL"].rsplit("/", 1)[1].split("?")[0]
    asked = (
        "select kind, format, rows, filter->>'kind' from rankscope.exports where filter->>'area' is null order by id"
    )
    recorded = cluster.run(asked, database)
    assert recorded == [("corroboration", "csv", 3, "independent"), ("corroboration", "json", 3, "independent")]


@pytest.mark.long
def test_shadow_mode_leads_to_the_change_with_its_preview(visit: Visit, server: AppServer) -> None:
    page = opened(visit, f"{server.url}/corroboration?org=org_a&show=shadow")
    expect(page.get_by_text("No-go. Failed gates: retrievals replayed")).to_be_in_viewport(timeout=SOON)
    page.get_by_role("link", name="Open this flag change").click()
    expect(page).to_have_url(re.compile("feature_flags.*flag=corroboration_boost_enabled"), timeout=SOON)
    expect(page.get_by_text("Set to on, it means: boost on.")).to_be_visible(timeout=SOON)


@pytest.mark.long
@pytest.mark.parametrize(("theme", "width"), [("light", 1400), ("dark", 900)])
def test_it_fits_both_themes_and_widths(browser: Browser, server: AppServer, theme: str, width: int) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 1000}, color_scheme="dark" if theme == "dark" else "light"
    )
    visit = Visit(context)
    for address in ("bits=0", f"bits=0&show=sizes&part=bits&cluster={1:032x}", "method=embedding&show=shadow"):
        page = opened(visit, f"{server.url}/corroboration?org=org_a&{address}")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert complaints(visit) == []
    context.close()
