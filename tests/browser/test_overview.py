"""Overview in a real browser: address, links, the back button, both themes, two widths, and no harm from any text."""

from __future__ import annotations

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

import psycopg
import pytest
from playwright.sync_api import expect

from queries.scope import marked
from retrieval.pipelines import BOOST_ON, WEIGHTING_OFF
from tests import sample
from tests.app_server import AppServer
from tests.browser.cells import ENTER, click_cell, end_of
from tests.browser.conftest import Visit
from tests.driver import Session
from tests.hostile import TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.conftest import Cluster


SENTENCE = "[data-testid=stMain] [data-testid=stText]"


@pytest.fixture(scope="module")
def server(cluster: Cluster, template: str) -> Iterator[AppServer]:
    """Two ordinary organizations, and one hostile organization per hostile text."""
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        for org, title in (("org_a", "Acme"), ("org_b", "Birch")):
            sample.add_organization(owner, org, title)
            sample.add_observations(owner, org, 5)
            for day in range(1, 9):
                sample.add_session(owner, org, f"s{day}", days_ago=day)
                sample.add_retrieval(owner, org, sample.swapped(8, 4, 4 + day % 2), name=f"r{day}", days_ago=day)
        for number, text in enumerate(TEXTS):
            owner.execute("insert into organizations (id, name) values (%s, %s)", (f"h{number:02} {text[:60]}", text))
        hostile = "h00 <script>window.__x='script'</script>"
        owner.execute("insert into projects (org_id, id, name) values (%s, %s, %s)", (hostile, TEXTS[1], TEXTS[20]))
        sample.add_retrieval(owner, hostile, sample.unchanged(3), name="x")
    started = AppServer(DATABASE_URL=cluster.plain_url("dash_read", name))
    yield started
    started.stop()
    cluster.drop(name)


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("combobox", name=label).fill(option)
    page.get_by_role("option").first.click()


def sentence(page: Page) -> str:
    return page.locator(SENTENCE).first.inner_text()


class TestAddress:
    def test_a_choice_goes_into_the_address_and_survives_a_reload(self, visit: Visit, server: AppServer) -> None:
        page = visit.open(server.url)
        assert "all organizations" in sentence(page)
        choose(page, "Organization", "Birch")
        expect(page).to_have_url(re.compile(r"\?org=org_b$"))
        visit.settled()
        page.get_by_role("button", name="7d", exact=True).or_(
            page.get_by_role("radio", name="7d", exact=True)
        ).first.click()
        expect(page).to_have_url(re.compile("window=7d"))
        expect(page.locator(SENTENCE).first).to_contain_text("Birch")
        page.reload()
        visit.settled()
        expect(page.locator(SENTENCE).first).to_contain_text("Birch")
        expect(page.get_by_text("the 7 days before")).to_be_visible()

    @pytest.mark.long
    def test_a_pasted_link_shows_the_same_in_a_fresh_browser(self, browser: Browser, server: AppServer) -> None:
        seen = []
        for _ in range(2):
            context = browser.new_context()
            page = Visit(context).open(f"{server.url}/?org=org_a&project=api&window=90d")
            expect(page.locator(SENTENCE).first).to_contain_text(
                f"Acme, project {sample.canary('org_a', 'project')} · api"
            )
            seen.append((sentence(page), page.locator("[data-testid=stMetricValue]").all_inner_texts()))
            context.close()
        assert seen[0] == seen[1]

    def test_the_back_button_undoes_a_choice(self, visit: Visit, server: AppServer) -> None:
        page = visit.open(server.url)
        choose(page, "Organization", "Acme")
        expect(page.locator(SENTENCE).first).to_contain_text("Acme")
        page.go_back()
        expect(page.locator(SENTENCE).first).to_contain_text("all organizations")
        page.go_forward()
        expect(page.locator(SENTENCE).first).to_contain_text("Acme")

    @pytest.mark.long
    def test_links_take_the_scope_along(self, visit: Visit, server: AppServer) -> None:
        page = visit.open(f"{server.url}/?org=org_a&window=7d")
        link = page.get_by_role("link", name="Overview")
        link.click()
        visit.settled()
        expect(page).to_have_url(re.compile("org=org_a"))
        expect(page).to_have_url(re.compile("window=7d"))
        expect(page.locator(SENTENCE).first).to_contain_text("Acme")

    @pytest.mark.long
    def test_opening_a_row_leads_into_that_organization(self, visit: Visit, server: AppServer) -> None:
        page = visit.open(f"{server.url}/?window=7d")
        table = page.locator("[data-testid=stDataFrame] canvas").first
        table.wait_for()
        box = table.bounding_box()
        assert box is not None
        # The table is drawn on a canvas: "Open" stands behind the cells, the first row below the header.
        page.mouse.click(box["x"] + end_of("overlap") + ENTER / 2, box["y"] + 55)
        expect(page).to_have_url(re.compile(r"org=org_[ab]"))
        visit.settled()
        expect(page.locator(SENTENCE).first).to_contain_text(re.compile("Acme|Birch"))

    @pytest.mark.parametrize(
        ("column", "path", "said"),
        [
            ("accepted", "health", {"org": "org_b"}),
            ("flips", "feedback_impact", {"org": "org_b"}),
            pytest.param("overlap", "feedback_impact", {"org": "org_b"}, marks=pytest.mark.long),
            pytest.param("alerts", "drift_alerts", {"org": "org_b"}, marks=pytest.mark.long),
            pytest.param("coverage", "health", {"org": "org_b"}, marks=pytest.mark.long),
            pytest.param(
                "weighting", "feature_flags", {"target": "org_b", "flag": WEIGHTING_OFF, "days": "30d"},
                marks=pytest.mark.long,
            ),
            ("boost", "feature_flags", {"target": "org_b", "flag": BOOST_ON, "days": "30d"}),
            pytest.param("override", "feature_flags", {"target": "org_b"}, marks=pytest.mark.long),
        ],
    )  # fmt: skip
    def test_a_cell_of_the_matrix_opens_the_page_behind_its_figure(
        self, visit: Visit, server: AppServer, column: str, path: str, said: dict[str, str]
    ) -> None:
        page = visit.open(f"{server.url}/?window=7d")
        click_cell(page, column, "Birch")
        page.wait_for_url(re.compile(f"/{path}\\?"))
        visit.settled()
        assert dict(parse_qsl(urlsplit(page.url).query)) == {"window": "7d", **said}
        assert visit.complaints == []


class TestFirstRequest:
    def test_a_deep_link_is_the_first_request_of_a_fresh_server(
        self, visit: Visit, server: AppServer, cluster: Cluster
    ) -> None:
        """Streamlit's page discovery would run the page without the shell here; scope and access have to hold."""
        fresh = AppServer(DATABASE_URL=server.environment["DATABASE_URL"])
        try:
            page = visit.open(f"{fresh.url}/overview?org=org_b")
            expect(page.locator(SENTENCE).first).to_contain_text("Birch")
            expect(page.get_by_role("combobox", name="Organization")).to_have_value("Birch · org_b")
        finally:
            fresh.stop()
        assert cluster.run("select 1") == [(1,)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [900, 1400])
@pytest.mark.long
def test_both_themes_and_widths_fit_and_complain_of_nothing(
    browser: Browser, server: AppServer, scheme: str, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if scheme == "dark" else "light"
    )
    visit = Visit(context)
    page = visit.open(f"{server.url}/?org=org_a")
    page.locator(".js-plotly-plot .bars").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    background = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    assert background == ("rgb(18, 25, 29)" if scheme == "dark" else "rgb(255, 255, 255)")
    assert [text for text in page.locator("[data-testid=stMetricLabel]").all_inner_texts() if "…" in text] == []
    assert visit.complaints == []
    assert visit.foreign_requests(server.url) == []
    context.close()


@pytest.mark.parametrize(("width", "lines"), [(900, [3, 2]), (1100, [5]), (1400, [5])])
def test_figures_stand_in_one_line_or_in_two_halves_and_none_is_cut(
    browser: Browser, server: AppServer, width: int, lines: list[int]
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = Visit(context).open(f"{server.url}/?org=org_a")
    cards = page.locator("[data-testid=stMetric]")
    expect(cards).to_have_count(5)
    boxes = [box for card in cards.all() if (box := card.bounding_box())]
    tops = [box["y"] for box in boxes]
    assert [tops.count(top) for top in dict.fromkeys(tops)] == lines
    assert len({box["width"] for box in boxes}) == 1
    assert len({(box["y"], box["height"]) for box in boxes}) == len(lines)
    cut = "texts => texts.filter(text => text.scrollWidth > text.clientWidth).map(text => text.innerText)"
    assert cards.locator("[data-testid=stMarkdownContainer]").evaluate_all(cut) == []
    context.close()


class TestHostileTexts:
    """HOS-1, for what is there: names of organizations and projects, ids, the sentence, the list, the table."""

    @pytest.mark.parametrize("query", ["", "?org=h00%20%3Cscript%3Ewindow.__x%3D%27script%27%3C%2Fscript%3E"])
    def test_nothing_runs_and_nothing_calls_out(self, visit: Visit, server: AppServer, query: str) -> None:
        page = visit.open(server.url + query)
        for label in ("Organization", "Project") if query else ("Organization",):
            page.get_by_role("combobox", name=label).click()
            page.wait_for_timeout(300)
            page.keyboard.press("Escape")
        visit.settled()
        assert page.evaluate("window.__x") is None
        assert visit.dialogs == []
        assert visit.foreign_requests(server.url) == []
        assert page.locator("iframe, [href^='javascript:'], object, embed").count() == 0
        # Streamlit's own logo and icons are data: and /media/ images; a beacon would be another host
        assert [
            src for src in page.locator("img").evaluate_all("all => all.map(i => i.src)") if "127.0.0.1:9" in src
        ] == []

    @pytest.mark.long
    def test_the_sentence_and_the_list_show_them_literally(self, visit: Visit, server: AppServer) -> None:
        page = visit.open(f"{server.url}/?org=h00%20%3Cscript%3Ewindow.__x%3D%27script%27%3C%2Fscript%3E")
        assert "<script>window.__x='script'</script>" in sentence(page)
        page.get_by_role("combobox", name="Organization").fill("<img src=x")
        expect(page.get_by_role("option").first).to_contain_text("<img src=x onerror=\"window.__x='img'\">")

    @pytest.mark.long
    def test_the_server_sends_every_name_as_it_is_stored(self, server: AppServer) -> None:
        """``st.text`` shows what it is sent: the name, whole and unescaped, what would turn it unseen by its number."""
        for number, text in enumerate(TEXTS):
            query = urlencode({"org": f"h{number:02} {text[:60]}"})
            with Session(server.url, query=query) as session:
                session.run()
            assert any(marked(text[:200]) in body for body in session.bodies("text"))
            assert session.bodies("exception") == []
            alerts = session.bodies("alert")
            if number:  # only the first has a retrieval
                (alert,) = alerts
                assert alert.startswith("Nothing was ever stored here: no observation, no session, no retrieval.")

    @pytest.mark.long
    @pytest.mark.parametrize("number", [2, 20, 25, 31, 46, 56])
    def test_the_sentence_shows_a_name_as_it_is_stored(self, visit: Visit, server: AppServer, number: int) -> None:
        text = TEXTS[number]
        page = visit.open(f"{server.url}/?{urlencode({'org': f'h{number:02} {text[:60]}'})}")
        assert text in (page.locator(SENTENCE).first.text_content() or "")
        assert page.locator(SENTENCE).locator("a, img").count() == 0
        assert visit.foreign_requests(server.url) == []


class TestFraming:
    def test_another_page_cannot_frame_the_application(self, visit: Visit, server: AppServer) -> None:
        """WEB-2: a page that frames us shows nothing, so no click of an operator can be stolen."""
        body = f"<iframe src='{server.url}'></iframe>".encode()

        class Framing(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/html")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        # From this machine too: Chromium keeps pages of other hosts from loopback before it asks for our headers.
        with ThreadingHTTPServer(("127.0.0.1", 0), Framing) as framing:
            threading.Thread(target=framing.serve_forever, daemon=True).start()
            visit.page.goto(f"http://127.0.0.1:{framing.server_port}/")
            visit.page.wait_for_timeout(1500)
            framed = [frame.url for frame in visit.page.frames[1:]]
            framing.shutdown()
        assert framed == ["chrome-error://chromewebdata/"]
        assert any("frame-ancestors" in text for text in visit.complaints)


@pytest.mark.parametrize(("width", "last"), [(900, "boost"), (1400, "overlap")])
def test_no_cell_that_decides_is_cut_in_a_narrow_window_and_none_that_opens_a_page_in_a_wide_one(
    browser: Browser, server: AppServer, width: int, last: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = Visit(context).open(f"{server.url}/")
    shown = page.locator("[data-testid=stDataFrame] .dvn-scroller").first.evaluate("table => table.clientWidth")
    assert end_of(last) + (ENTER if width == 1400 else 0) <= shown
    context.close()
