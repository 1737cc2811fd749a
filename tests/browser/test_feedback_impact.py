"""Feedback Impact in a real browser: links, clicks, filters and reload, both themes, and no harm from any text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import psycopg
import pytest
from playwright.sync_api import expect

from controls.grid import WRAPPED
from tests import sample
from tests.app_server import AppServer
from tests.browser.cells import open_row
from tests.browser.conftest import Visit
from tests.hostile import TEXTS
from tests.impact_log import believable, plant, seeded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.conftest import Cluster

FINDING = "[data-testid=stHeading] h3"
NOISE = "404 (Not Found)"  # Streamlit looks for itself below a deep link before it looks at the root


@pytest.fixture(scope="module")
def server(cluster: Cluster, template: str) -> Iterator[AppServer]:
    """An ordinary organization, and one whose every text is hostile."""
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        draw = seeded(11)
        sample.add_organization(owner, "org_a", "Acme")
        for number in range(20):
            owner.execute(
                """insert into sessions (org_id, id, project_id, agent_id, work_type, outcome, created_at)
                   values ('org_a', %s, 'api', %s, 'chore', 'accepted', now())""",
                (f"s{number}", f"agent-{number % 2}"),
            )
        plant(
            owner,
            [
                believable(draw, str(n), 20, block=8, session=f"s{n % 20}", days_ago=n % 9, query=f"query {n}")
                for n in range(60)
            ],
        )
        sample.add_organization(owner, "org_h", TEXTS[0])
        hostile = []
        for number, text in enumerate(TEXTS[:24]):
            session = f"{number} {text[:100]}"
            owner.execute(
                """insert into sessions (org_id, id, project_id, agent_id, work_type, outcome, created_at)
                   values ('org_h', %s, 'api', %s, %s, 'rework', now())""",
                (session, text[:150], text[:150]),
            )
            hostile.append(believable(draw, f"h{number}", 20, block=4, org="org_h", session=session, query=text))
        plant(owner, hostile)
        ids = list(dict.fromkeys(row.observation for each in hostile for row in each.rows))
        for number, id_ in enumerate(ids):
            owner.execute(
                "insert into observations (org_id, id, content, content_hash) values ('org_h', %s, %s, %s)",
                (id_, TEXTS[number % len(TEXTS)], str(number)),
            )
    started = AppServer(DATABASE_URL=cluster.plain_url("dash_read", name))
    yield started
    started.stop()
    cluster.drop(name)


def drawn(page: Page) -> None:
    page.locator(".js-plotly-plot .heatmaplayer image").first.wait_for()
    page.locator("[data-testid=stDataFrame] canvas").first.wait_for()


def complaints(visit: Visit) -> list[str]:
    return [line for line in visit.complaints if NOISE not in line]


def click_cell(page: Page, before: int, after: int, size: int = 20) -> None:
    """Click the cell of two ranks, both from 1; the plot's own frame says where it is."""
    place = page.locator(".js-plotly-plot .nsewdrag").first
    place.scroll_into_view_if_needed()
    frame = place.bounding_box()
    assert frame is not None
    x = frame["x"] + (before - 0.5) / size * frame["width"]
    y = frame["y"] + (after - 0.5) / size * frame["height"]
    # plotly takes a click only for what it has seen the mouse over, and it looks now and then
    page.mouse.move(x - 2, y)
    page.mouse.move(x, y)
    page.locator(".js-plotly-plot .hovertext").first.wait_for()
    page.mouse.click(x, y)


def test_a_click_on_a_cell_lists_its_retrievals_and_survives_a_reload(visit: Visit, server: AppServer) -> None:
    page = visit.open(f"{server.url}/feedback_impact?org=org_a")
    drawn(page)
    click_cell(page, 1, 1)
    expect(page).to_have_url(re.compile("cell=1-1"))
    title = page.get_by_text(re.compile(r"\d+ retrievals? with a candidate at rank 1 without and 1 with feedback"))
    expect(title).to_be_visible()
    seen = title.inner_text()
    page.reload()
    visit.settled()
    assert title.inner_text() == seen
    page.get_by_role("button", name="Show all retrievals").click()
    expect(page.get_by_text("Retrievals that feedback changed most")).to_be_visible()
    expect(page).not_to_have_url(re.compile("cell="))
    visit.settled()
    page.get_by_role("combobox", name=re.compile("Cell of the map")).focus()  # the same without a mouse
    page.keyboard.type("rank 2 → 2 ")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("cell=2-2"))
    assert complaints(visit) == []


@pytest.mark.long
def test_a_filter_goes_into_the_address_and_a_pasted_link_shows_the_same(
    visit: Visit, browser: Browser, server: AppServer
) -> None:
    page = visit.open(f"{server.url}/feedback_impact?org=org_a")
    words = page.get_by_role("textbox", name="Query contains", exact=True)
    words.fill("query 1")
    words.press("Enter")
    expect(page).to_have_url(re.compile(r"query=query(\+|%20)1"))
    depth = page.get_by_role("spinbutton", name="Top k", exact=True)
    depth.fill("3")
    depth.press("Enter")
    expect(page).to_have_url(re.compile("k=3"))
    expect(page.locator(FINDING)).to_contain_text("Feedback changed the top 3 in")
    expect(page.get_by_text("Based on 11 comparable retrievals")).to_be_visible()
    visit.settled()
    figures = page.locator("[data-testid=stMetricValue]").all_inner_texts()
    context = browser.new_context()
    again = Visit(context).open(page.url)
    expect(again.locator(FINDING)).to_have_text(page.locator(FINDING).inner_text())
    expect(again.get_by_role("textbox", name="Query contains", exact=True)).to_have_value("query 1")
    assert again.locator("[data-testid=stMetricValue]").all_inner_texts() == figures
    context.close()


@pytest.mark.long
def test_a_row_opens_its_retrieval_below(visit: Visit, server: AppServer) -> None:
    page = visit.open(f"{server.url}/feedback_impact?org=org_a")
    drawn(page)
    table = page.locator("[data-testid=stDataFrame] canvas").first
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 37, box["y"] + 52)
    expect(page).to_have_url(re.compile("retrieval=[0-9a-f-]{36}"))
    expect(page.get_by_text("Opened retrieval")).to_be_visible()
    name = page.url.split("retrieval=")[1].split("&")[0]
    link = page.get_by_role("link", name="Open in Inspector")
    page.reload()
    visit.settled()
    expect(page.get_by_text(re.compile("Feedback moved .* into the block of 8"))).to_be_visible()
    link.click()  # in this tab: going back leads to where one was
    expect(page).to_have_url(re.compile(f"/inspector\\?org=org_a&retrieval={name}"))
    page.go_back()
    expect(page).to_have_url(re.compile(f"/feedback_impact\\?.*retrieval={name}"))


@pytest.mark.long
def test_a_candidate_of_an_opened_retrieval_leads_to_its_observation(visit: Visit, server: AppServer) -> None:
    planted = believable(seeded(11), "0", 20, block=8)
    page = visit.open(f"{server.url}/feedback_impact?org=org_a&retrieval={planted.id}")
    drawn(page)
    open_row(page, "Relevance × weight", 1, WRAPPED)
    second = next(row.observation for row in planted.rows if row.after == 1)
    expect(page).to_have_url(re.compile(f"/observation\\?.*observation={second}"))


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_narrow_window_and_complains_of_nothing(browser: Browser, server: AppServer, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": 900, "height": 900}, color_scheme="dark" if scheme == "dark" else "light"
    )
    visit = Visit(context)
    page = visit.open(server.url)
    page.get_by_role("link", name="Feedback Impact").click()
    expect(page.locator(FINDING)).to_contain_text("Feedback changed the top 5")
    drawn(visit.settled())
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert visit.complaints == []
    context.close()


@pytest.mark.long
@pytest.mark.parametrize("part", ["movers", "weights", "outcomes", "measures"])
def test_hostile_texts_are_shown_literally_and_do_nothing(visit: Visit, server: AppServer, part: str) -> None:
    retrieval = believable(seeded(11), "h3", 20, block=4, org="org_h").id
    page = visit.open(f"{server.url}/feedback_impact?org=org_h&part={part}&retrieval={retrieval}")
    drawn(page)
    page.locator(".js-plotly-plot .scatterlayer text").first.wait_for(state="attached")
    shown = page.locator("[data-testid=stMain]").inner_text()
    assert TEXTS[3] in shown
    assert page.locator(".js-plotly-plot a, .js-plotly-plot img").count() == 0
    assert page.evaluate("window.__x") is None
    assert visit.dialogs == []
    assert visit.foreign_requests(server.url) == []
    assert complaints(visit) == []
