"""The Inspector in a real browser: links, sliders, a click on a line, and no harm from any text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import psycopg
import pytest
from playwright.sync_api import expect

from tests.app_server import AppServer
from tests.browser.conftest import Visit
from tests.hostile import TEXTS as HOSTILE
from tests.retrieval.planted import QUESTION, plant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.conftest import Cluster

BUMP = ".st-key-bump"
WATERFALL = ".st-key-waterfall"
BOOST = ".st-key-turn_boost [data-testid=stSliderThumbValue]"


@pytest.fixture(scope="module")
def server(cluster: Cluster, template: str) -> Iterator[AppServer]:
    """An ordinary memory whose best answer has misled, and one whose every text attacks."""
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        plant(owner, weights=(0.2, 1.0, 0.9, 1.0, 0.5))
        plant(owner, "evil", [text[:300] for text in HOSTILE if text.strip()][:20])
    started = AppServer(DATABASE_URL=cluster.plain_url("dash_read", name))
    yield started
    started.stop()
    cluster.drop(name)


def link(server: AppServer, **said: str) -> str:
    return f"{server.url}/inspector?{urlencode({'org': 'acme', 'q': QUESTION, **said})}"


def drawn(visit: Visit, url: str) -> Page:
    page = visit.open(url)
    page.locator(f"{BUMP} .scatterlayer .point").first.wait_for()
    return page


def harmless(visit: Visit) -> bool:
    return not visit.complaints and not visit.dialogs


class TestAddress:
    def test_a_link_shows_the_same_in_a_fresh_browser(self, browser: Browser, server: AppServer) -> None:
        url = link(server, preset="INTENDED", boost="0.3", v="1", show="block")
        seen = []
        for _ in range(2):
            context = browser.new_context(viewport={"width": 1400, "height": 1000})
            page = drawn(Visit(context), url)
            texts = page.locator(f"{BUMP} .scatterlayer text, {BUMP} .gtitle").all_inner_texts()
            seen.append((texts, page.locator("[data-testid=stCode]").last.inner_text()))
            expect(page.locator(BOOST)).to_have_text("0.30")
            context.close()
        assert seen[0] == seen[1]
        assert len(seen[0][0]) == 6

    @pytest.mark.long
    def test_a_slider_goes_into_the_address_and_survives_a_reload(self, visit: Visit, server: AppServer) -> None:
        page = drawn(visit, link(server, preset="INTENDED", v="1"))
        slider = page.get_by_role("slider", name="Boost scale")
        slider.focus()
        slider.press("ArrowRight")
        expect(page).to_have_url(re.compile(r"boost=0\.11(&|$)"))
        page.reload()
        visit.settled()
        expect(page.locator(BOOST)).to_have_text("0.11")
        page.get_by_role("button", name="Reset to 0.1").click()
        expect(page).not_to_have_url(re.compile("boost="))
        assert harmless(visit)

    @pytest.mark.long
    def test_a_question_typed_is_answered_and_linked(self, visit: Visit, server: AppServer) -> None:
        page = visit.open(f"{server.url}/inspector?org=acme")
        page.get_by_label("Question").fill(QUESTION)
        page.get_by_label("Question").press("Enter")
        page.locator(f"{BUMP} .scatterlayer .point").first.wait_for()
        expect(page).to_have_url(re.compile("q=fix"))


class TestOpening:
    def test_a_click_on_a_line_opens_its_waterfall(self, visit: Visit, server: AppServer) -> None:
        page = drawn(visit, link(server))
        page.wait_for_timeout(1000)  # plotly draws once more after it is there
        box = page.locator(f"{BUMP} .scatterlayer .point").first.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x - 25, y)
        page.mouse.move(x, y)
        page.wait_for_timeout(300)
        page.mouse.click(x, y)
        expect(page).to_have_url(re.compile(r"obs=[0-9a-f-]{36}"))
        expect(page.locator(f"{WATERFALL} .gtitle")).to_contain_text("Score ")
        expect(page.get_by_text("Flip distance").first).to_be_visible()
        page.get_by_role("button", name="Close").click()
        expect(page).not_to_have_url(re.compile("obs="))
        assert harmless(visit)


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hostile_texts_stand_there_literally(browser: Browser, server: AppServer, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 1000, "height": 1000}, color_scheme=scheme)  # type: ignore[arg-type]
    visit = Visit(context)
    question = "<img src=x onerror=\"window.__x='q'\"> beacon script window"
    page = drawn(visit, f"{server.url}/inspector?{urlencode({'org': 'evil', 'q': question, 'show': 'block'})}")
    assert page.evaluate("window.__x") is None
    assert visit.foreign_requests(server.url) == []
    assert harmless(visit)
    assert page.locator(f"{BUMP} a, {BUMP} img, {BUMP} script").count() == 0
    assert "<script>window.__x='script'</script>" in page.locator("[data-testid=stCode]").last.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1000
    context.close()
