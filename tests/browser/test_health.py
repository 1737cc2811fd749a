"""Health in a real browser: parts switched by clicks and kept in the address, a row opened, no harm from any text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import psycopg
import pytest
from playwright.sync_api import expect

from tests import sample
from tests.app_server import AppServer
from tests.browser.conftest import Visit
from tests.health_store import NOW, obs, plant
from tests.hostile import TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.conftest import Cluster

NOISE = "404 (Not Found)"  # Streamlit looks for itself below a deep link before it looks at the root


@pytest.fixture(scope="module")
def server(cluster: Cluster, template: str) -> Iterator[AppServer]:
    """Two ordinary organizations, and one whose every text is hostile."""
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        plant(owner, 11)
        sample.add_organization(owner, "org_h", TEXTS[0])
        for number, text in enumerate(TEXTS[:20]):
            owner.execute(
                """insert into observations (org_id, id, project_id, agent_id, content, content_hash, created_at)
                   values ('org_h', %s, %s, %s, %s, %s, %s)""",
                (obs("org_h", number), text[:150], text[:150], text, text[:200], NOW),
            )
        ids = [obs("org_h", number) for number in range(20)]
        sample.add_retrieval(owner, "org_h", sample.unchanged(20), name="one", observations=ids)
        owner.execute("update retrieval_ab_logs set injected = true where org_id = 'org_h'")
    started = AppServer(DATABASE_URL=cluster.plain_url("dash_read", name))
    yield started
    started.stop()
    cluster.drop(name)


def test_parts_are_in_the_address_and_a_row_opens_its_observation(visit: Visit, server: AppServer) -> None:
    page = visit.open(f"{server.url}/health?org=org_a")
    page.locator(".js-plotly-plot .scatterlayer .point").first.wait_for()
    page.get_by_role("radio", name="Top observations").click()
    expect(page).to_have_url(re.compile("part=top"))
    page.get_by_role("radio", name="Lowest weight").click()
    expect(page).to_have_url(re.compile("kind=lowest"))
    visit.settled()
    page.reload()
    visit.settled()
    expect(page.get_by_text("What feedback has pushed down")).to_be_visible()
    cells = page.locator("[data-testid=stDataFrame] canvas").first
    cells.wait_for()
    page.wait_for_timeout(1000)
    cells.click(position={"x": 37, "y": 52}, force=True)  # what lies over the canvas takes the click
    expect(page).to_have_url(re.compile(r"/observation\?.*observation=[0-9a-f-]{36}"))
    expect(page).to_have_url(re.compile("org=org_a"))
    assert [line for line in visit.complaints if NOISE not in line] == []


@pytest.mark.parametrize("width", [900, 1400])
def test_what_an_organization_is_named_for_stands_right_beside_its_button(
    browser: Browser, server: AppServer, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = Visit(context).open(f"{server.url}/health")
    opens = page.locator(".st-key-whose_0 button").bounding_box(timeout=9000)
    line = "//*[contains(@class, 'st-key-whose_0')]/following::*[@data-testid='stText'][1]"
    told = page.locator(line).bounding_box(timeout=9000)
    assert opens is not None
    assert told is not None
    assert 0 < told["x"] - opens["x"] - opens["width"] <= 20
    assert abs(told["y"] + told["height"] / 2 - opens["y"] - opens["height"] / 2) <= 1
    context.close()


@pytest.mark.long
def test_hostile_texts_do_nothing(visit: Visit, server: AppServer) -> None:
    for part in ("memory", "top", "coverage"):
        page = visit.open(f"{server.url}/health?org=org_h&part={part}&by=agent")
        page.locator(".js-plotly-plot, [data-testid=stDataFrame] canvas").first.wait_for()
        assert page.evaluate("window.__x") is None
    assert visit.dialogs == []
    assert visit.foreign_requests(server.url) == []
