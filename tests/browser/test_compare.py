"""The worker and the Compare panel in a real browser: progress, cancel, a usable page, links, hostile texts."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import psycopg
import pytest
from playwright.sync_api import expect

from tests.app_server import AppServer
from tests.hostile import TEXTS
from tests.jobs.test_worker import starts, until
from tests.retrieval.planted import plant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

    from tests.browser.conftest import Visit
    from tests.conftest import Cluster

pytestmark = pytest.mark.usefixtures("quiet")

PANEL, WAITING = "tests/controls/inspector/compare_page.py", "tests/controls/working_page.py"


@pytest.fixture(scope="module")
def database(cluster: Cluster, template: str) -> Iterator[str]:
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        plant(owner)
        plant(owner, "hostile", [f"middleware {text}" for text in TEXTS[:60:4]])
        owner.execute("update observations set title = content where org_id = 'hostile'")  # lists go by titles
    yield cluster.plain_url("dash_read", name)
    cluster.drop(name)


@pytest.fixture(scope="module")
def panel(database: str) -> Iterator[AppServer]:
    started = AppServer(script=PANEL, DATABASE_URL=database, RANKSCOPE_SCORER="lexical")
    yield started
    started.stop()


@pytest.fixture(scope="module")
def waiting(database: str) -> Iterator[AppServer]:
    started = AppServer(script=WAITING, DATABASE_URL=database)
    yield started
    started.stop()


def address(server: AppServer, folder: Path) -> str:
    return f"{server.url}/?task=until_released&params={quote(json.dumps({'folder': str(folder)}))}"


def drawn(page: Page) -> str:
    return page.locator("[data-testid=stText]").first.inner_text()


class TestWaiting:
    @pytest.mark.long
    def test_progress_shows_the_page_stays_usable_and_the_value_appears_by_itself(
        self, visit: Visit, waiting: AppServer, tmp_path: Path
    ) -> None:
        page = visit.page
        page.goto(address(waiting, tmp_path))
        bar = page.locator("[data-testid=stProgress]")
        expect(bar).to_contain_text("Working, waiting", timeout=60_000)
        expect(bar.locator("[role=progressbar]")).to_have_attribute("aria-valuenow", re.compile("25"))
        before = drawn(page)
        page.get_by_role("button", name="Something else").click()
        expect(page.locator("[data-testid=stText]").first).not_to_have_text(before)
        expect(bar).to_be_visible()
        (tmp_path / "go").touch()
        expect(page.locator("[data-testid=stJson]")).to_contain_text("released")
        expect(bar).to_have_count(0)
        assert len(starts(tmp_path)) == 1
        assert visit.complaints == []

    @pytest.mark.long
    def test_cancel_ends_the_process_and_try_again_begins_anew(
        self, visit: Visit, waiting: AppServer, tmp_path: Path
    ) -> None:
        page = visit.page
        page.goto(address(waiting, tmp_path))
        expect(page.locator("[data-testid=stProgress]")).to_contain_text("Working, waiting", timeout=60_000)
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_text("Cancelled. Nothing was changed.")).to_be_visible()
        expect(page.locator("[data-testid=stProgress]")).to_have_count(0)
        (tmp_path / "go").touch()
        page.get_by_role("button", name="Try again").click()
        expect(page.locator("[data-testid=stJson]")).to_contain_text("released", timeout=60_000)
        assert len(until(lambda: starts(tmp_path))) == 2


class TestPanel:
    @pytest.mark.long
    def test_a_link_shows_lists_side_by_side_and_a_choice_goes_into_the_address(
        self, visit: Visit, panel: AppServer
    ) -> None:
        page = visit.open(f"{panel.url}/?vs=MEMINI,Relevance~~Head~k~2&top=3")
        chart = page.locator(".js-plotly-plot").first
        expect(chart).to_contain_text("C · Relevance → Head")
        expect(chart.locator(".gtitle")).to_contain_text("Of the 3 best of A, B keeps")
        page.get_by_role("button", name="Increment value").or_(
            page.locator("[data-testid=stNumberInputStepUp]")
        ).first.click()
        expect(page).to_have_url(re.compile("top=4"))
        expect(chart.locator(".gtitle")).to_contain_text("Of the 4 best of A, B keeps")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert visit.complaints == []

    @pytest.mark.long
    def test_a_pasted_pipeline_goes_into_the_address_and_survives_a_reload(
        self, visit: Visit, panel: AppServer
    ) -> None:
        page = visit.open(panel.url)
        page.get_by_role("combobox", name="Compare with").fill("Relevance~~Head~k~2")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("vs=Relevance"))
        expect(page.locator(".js-plotly-plot").first).to_contain_text("B · Relevance → Head")
        page.reload()
        visit.settled()
        expect(page.locator(".js-plotly-plot").first).to_contain_text("B · Relevance → Head")
        assert page.get_by_text("Not compared").count() == 0

    @pytest.mark.long
    def test_hover_gives_the_rank_in_each(self, visit: Visit, panel: AppServer) -> None:
        page = visit.open(f"{panel.url}/?vs=Relevance~~Head~k~2")
        mark = page.locator(".js-plotly-plot .points path").first
        mark.wait_for()
        page.wait_for_timeout(800)  # plotly draws once more after it is there
        box = page.locator(".js-plotly-plot .points path").first.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        hover = page.locator(".js-plotly-plot .hoverlayer")
        expect(hover).to_contain_text("A · Live without the boost: rank 1")
        expect(hover).to_contain_text("B · Relevance → Head: rank 1")

    @pytest.mark.long
    def test_hostile_texts_are_shown_literally_and_call_nobody(self, visit: Visit, panel: AppServer) -> None:
        query = urlencode({"org": "hostile", "q": "middleware", "top": "20", "vs": f"MEMINI,{TEXTS[20]},{TEXTS[1]}"})
        page = visit.open(f"{panel.url}/?{query}")
        expect(page.locator(".js-plotly-plot").first).to_contain_text("middleware <")
        page.get_by_role("combobox", name="Compare with").click()
        page.wait_for_timeout(300)
        assert page.evaluate("window.__x") is None
        assert visit.dialogs == []
        assert visit.foreign_requests(panel.url) == []
        assert page.locator(".js-plotly-plot a, .js-plotly-plot img, iframe").count() == 0
