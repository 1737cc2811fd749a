"""The Inspector in a real browser: links, sliders, a click on a line, and no harm from any text."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import psycopg
import pytest
from playwright.sync_api import expect

from tests.app_server import AppServer
from tests.browser.cells import open_row
from tests.browser.conftest import Visit
from tests.browser.unfolding import close_list, open_list, unfold
from tests.hostile import TEXTS as HOSTILE
from tests.retrieval.planted import QUESTION, TEXTS, plant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.conftest import Cluster

pytestmark = pytest.mark.usefixtures("quiet")

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


@pytest.fixture
def writable(cluster: Cluster, template: str) -> Iterator[AppServer]:
    """A store that may be written to."""
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        plant(owner)
    reader, writer = (cluster.plain_url(role, name) for role in ("dash_read", "dash_write"))
    started = AppServer(DATABASE_URL=reader, RANKSCOPE_WRITE_URL=writer)
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
    @pytest.mark.long
    def test_a_link_shows_the_same_in_a_fresh_browser(self, browser: Browser, server: AppServer) -> None:
        url = link(server, preset="INTENDED", boost="0.3", v="1", show="block")
        seen = []
        for _ in range(2):
            context = browser.new_context(viewport={"width": 1400, "height": 1000})
            visit = Visit(context)
            page = drawn(visit, url)
            expect(page.locator(f"{BUMP} .scatterlayer .textpoint text")).to_have_count(5)
            texts = page.locator(f"{BUMP} .scatterlayer text, {BUMP} .gtitle").all_inner_texts()
            seen.append((texts, page.locator("[data-testid=stCode]").last.inner_text()))
            expect(page.locator(BOOST)).to_have_text("0.30")
            assert harmless(visit)
            context.close()
        assert seen[0] == seen[1]
        assert len(seen[0][0]) == 6

    @pytest.mark.long
    def test_a_slider_goes_into_the_address_and_survives_a_reload(self, visit: Visit, server: AppServer) -> None:
        page = drawn(visit, link(server, preset="INTENDED", v="1", open="corroboration"))
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

    @pytest.mark.long
    def test_a_question_typed_over_an_opened_row_is_one_step_back(self, visit: Visit, server: AppServer) -> None:
        page = drawn(visit, link(server, obs="6f1d7a60-95a3-4c39-9d52-3ad8dfb7a1a1", work_type="review"))
        here = page.url
        page.get_by_label("Question").fill("which cookie")
        page.get_by_label("Question").press("Enter")
        expect(page).to_have_url(re.compile(r"\?org=acme&q=which\+cookie$"))
        page.go_back()
        expect(page).to_have_url(here)
        visit.settled()
        expect(page.get_by_label("Question")).to_have_value(QUESTION)
        assert harmless(visit)


def boxes(page: Page, selector: str) -> list[dict[str, float]]:
    """Where the elements stand that a selector finds."""
    found: list[dict[str, float]] = page.locator(selector).evaluate_all(
        "all => all.map(each => each.getBoundingClientRect().toJSON())"
    )
    return found


@pytest.mark.parametrize("width", [900, 1180, 1250, 1400])
@pytest.mark.long
def test_the_settings_stand_beside_the_picture_or_below_it(browser: Browser, server: AppServer, width: int) -> None:
    """In a narrow window nothing shrinks to uselessness and no stage's name is printed over another's."""
    context = browser.new_context(viewport={"width": width, "height": 1000})
    visit = Visit(context)
    page = drawn(visit, link(server, preset="FULL", scorer="lexical", v="1"))
    page.wait_for_timeout(1000)
    (picture,), (settings,) = boxes(page, ".st-key-picture"), boxes(page, ".st-key-pipeline")
    assert picture["width"] > 440
    assert settings["width"] >= 265
    assert (settings["top"] >= picture["bottom"]) == (width < 1250)
    # slanted by 60 degrees two names are apart if their anchors are further than a line of text, divided by the sine
    names = boxes(page, f"{BUMP} .xtick text")
    assert len(names) == 13
    steps = [after["left"] - before["left"] for before, after in pairwise(names)]
    assert min(steps) > 12 / 0.87
    labels = sorted(box["top"] for box in boxes(page, f"{BUMP} .scatterlayer .textpoint text"))
    assert len(labels) == 5
    assert all(below >= above + 12 for above, below in pairwise(labels))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert harmless(visit)
    context.close()


class TestPanels:
    @pytest.mark.long
    def test_why_not_names_the_gate_and_stands_in_the_address(self, visit: Visit, server: AppServer) -> None:
        page = drawn(visit, link(server, show="why", head="2", v="1"))
        page.get_by_label("An observation you miss in this ranking").fill("bananas")
        page.get_by_label("An observation you miss in this ranking").press("Enter")
        verdict = page.locator("[data-testid=stAlert]")
        expect(verdict).to_contain_text("Lost at best rows: rank 5 of 5, beyond the best 2")
        expect(page).to_have_url(re.compile("why=bananas"))
        assert harmless(visit)

    @pytest.mark.long
    def test_pipelines_are_compared_under_the_names_they_are_chosen_by(self, visit: Visit, server: AppServer) -> None:
        page = drawn(visit, link(server, show="compare", vs="MEMINI,FULL", scorer="lexical"))
        lists = page.locator(".st-key-compare_lists")
        for name in ("A · The organization's own", "B · Recent and important first", "C · Everything"):
            expect(lists).to_contain_text(name)
        expect(page.get_by_text("Recent and important first", exact=True).first).to_be_visible()
        assert harmless(visit)

    @pytest.mark.long
    def test_a_pin_is_held_opened_and_taken_down(self, visit: Visit, writable: AppServer) -> None:
        page = drawn(visit, link(writable, show="pins"))
        unfold(page, "Pin this question")
        page.get_by_label("Name", exact=True).fill("cookies first")
        open_list(page, "Must be in the block").filter(has_text=TEXTS[0]).click()
        close_list(page)
        expect(page.locator(".st-key-pin_include")).to_contain_text(TEXTS[0])
        page.get_by_role("button", name="Pin this", exact=True).click()
        expect(page.get_by_text("1 of 1 pins hold under this pipeline.")).to_be_visible()
        table = page.locator("[data-testid=stDataFrame] canvas").first
        box = table.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 14, box["y"] + 52)
        expect(page).to_have_url(re.compile("pin=[0-9]+"))
        page.get_by_role("button", name="Take down").click()
        expect(page.get_by_text("No pins are held yet.")).to_be_visible()
        assert harmless(visit)

    @pytest.mark.long
    def test_another_threshold_counts_voices_anew(self, visit: Visit, server: AppServer) -> None:
        page = drawn(visit, link(server, preset="INTENDED", v="1"))
        page.locator(".st-key-part_corroboration summary").click()
        slider = page.get_by_role("slider", name="SimHash bits")
        slider.focus()
        slider.press("ArrowRight")
        expect(page).to_have_url(re.compile("bits=4(&|$)"))
        expect(page.get_by_text("Texts up to 4 of 64 bits apart count as saying the same")).to_be_visible()
        page.reload()
        visit.settled()
        expect(page.locator(".st-key-pick_bits [data-testid=stSliderThumbValue]")).to_have_text("4")
        assert harmless(visit)


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
    @pytest.mark.parametrize("width", [900, 1440])
    def test_a_row_opens_where_it_was_clicked(self, browser: Browser, server: AppServer, width: int) -> None:
        """The list stays under the mouse, and what was opened is seen without scrolling, also the second time."""
        context = browser.new_context(viewport={"width": width, "height": 900})
        visit = Visit(context)
        page = drawn(visit, link(server))
        table = page.get_by_test_id("stDataFrame").first
        for row in (1, 3):
            table.scroll_into_view_if_needed()
            page.wait_for_timeout(500)
            before = table.bounding_box()
            open_row(page, "Memory", row)
            expect(page.get_by_text(re.compile(rf"^№ {row + 1} of 5 · "))).to_be_in_viewport(ratio=1)
            expect(page.get_by_text("Flip distance").first).to_be_attached()
            after = table.bounding_box()
            assert before is not None
            assert after is not None
            assert (after["x"], after["y"]) == pytest.approx((before["x"], before["y"]), abs=1)
        assert harmless(visit)
        context.close()


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
