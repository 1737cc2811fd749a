"""Drift reports in a real browser: the file on its own does nothing but show itself, and the page hands out its own."""

from __future__ import annotations

import csv
import io
import json
import re
import time
import zipfile
from typing import TYPE_CHECKING

import psycopg
import pypdfium2
import pytest
import requests
from playwright.sync_api import expect

from reports.html_page import write_html
from reports.spreadsheet import restored
from reports.texts import visible
from reports.verifying import verify
from tests.app_server import AppServer
from tests.browser.conftest import Visit
from tests.hostile import TEXTS
from tests.reports.alerts import about, alerts, hostile
from tests.reports.planted import plant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.conftest import Cluster

# Equal in length, head, middle and tail: what tells them apart lies where a sample of the bytes would not look.
ONE, OTHER = ("x" * 700 + who + "x" * 700 for who in ("OURS", "YOUR"))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report whose every text is hostile."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    with path.open("wb") as out:
        write_html(iter([*hostile(TEXTS), *alerts(30)]), about(org_name=TEXTS[0], permalink=TEXTS[1]), out)
    return path


class TestFile:
    def test_it_asks_nobody_runs_nothing_and_shows_every_text(self, visit: Visit, report: Path) -> None:
        """HOS-1."""
        page = visit.page
        page.goto(report.as_uri())
        page.wait_for_timeout(300)
        assert visit.requests == [report.as_uri()]
        assert (visit.dialogs, visit.complaints) == ([], [])
        assert page.evaluate("window.__x") is None
        assert page.locator("script, iframe, object, embed, img, link, form, [href]:not([href^='#'])").count() == 0
        shown = page.locator("blockquote").evaluate_all("all => all.map(each => each.textContent)")
        short = [visible(text) for text in TEXTS if len(text) < 3_000]
        assert {f"{text} always" for text in short} <= set(shown)
        assert {f"never {text}" for text in short} <= set(shown)

    def test_a_direction_that_is_left_open_ends_with_its_text(self, visit: Visit, report: Path) -> None:
        page = visit.page
        page.goto(report.as_uri())
        isolated = (
            "all => all.every(each => ['isolate', 'isolate-override'].includes(getComputedStyle(each).unicodeBidi))"
        )
        assert page.locator("blockquote").evaluate_all(isolated)
        assert page.locator("bdi").evaluate_all(isolated)

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.long
    def test_it_fits_the_window_in_both_themes_and_the_page_in_print(
        self, browser: Browser, report: Path, scheme: str
    ) -> None:
        for width in (700, 1200):
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme="dark" if scheme == "dark" else "light"
            )
            page = context.new_page()
            page.goto(report.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            light = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
            assert light == (scheme == "light")
            context.close()
        context = browser.new_context(color_scheme="dark" if scheme == "dark" else "light")
        page = context.new_page()
        page.goto(report.as_uri())
        printed = pypdfium2.PdfDocument(page.pdf(prefer_css_page_size=True))
        assert len(printed) > 5
        corner = printed[0].render(scale=0.2).to_pil().getpixel((2, 2))
        assert corner == (255, 255, 255), "paper is white, whatever the screen was"
        context.close()


@pytest.fixture(scope="module")
def server(cluster: Cluster, template: str) -> Iterator[AppServer]:
    """Two organizations that say the same but for one word in the middle."""
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        plant(owner, "org_a", [ONE, "=1+1", TEXTS[0]], name="Acme", first=100)
        plant(owner, "org_b", [OTHER, "=1+1", TEXTS[0]], name="Acme", first=200)
    started = AppServer(
        DATABASE_URL=cluster.plain_url("dash_read", name),
        RANKSCOPE_WRITE_URL=cluster.plain_url("dash_write", name),
    )
    yield started
    started.stop()
    cluster.drop(name)


def taken(page: Page, label: str) -> tuple[str, str, bytes]:
    """Name, link and bytes of a download."""
    with page.expect_download(timeout=60_000) as download:
        page.get_by_role("button", name=label, exact=True).click()
    return download.value.suggested_filename, download.value.url, download.value.path().read_bytes()


@pytest.mark.long
def test_the_page_hands_out_the_listed_alerts_to_whom_they_belong(browser: Browser, server: AppServer) -> None:
    """ISO-8: each link leads to its own bytes while its page is open, and to nothing once it was closed."""
    links, texts, contexts = {}, {}, {}
    for org, mine, foreign in (("org_a", b"OURS", b"YOUR"), ("org_b", b"YOUR", b"OURS")):
        contexts[org] = browser.new_context(viewport={"width": 1400, "height": 1000})
        page = Visit(contexts[org]).open(f"{server.url}/drift_alerts?org={org}")
        expect(page.get_by_role("button", name="Evidence bundle")).to_be_visible(timeout=60_000)
        name, link, content = taken(page, "CSV")
        assert re.fullmatch(rf"drift-report-{org.replace('_', '-')}-\d{{4}}-\d\d-\d\d-[0-9a-f]{{32}}\.csv", name)
        answer = requests.get(link, timeout=5)
        assert answer.headers["cache-control"] == "no-store"
        rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
        assert len(rows) == 3
        assert {restored(row["older_content"]).split("\n")[0] for row in rows} == {
            ONE if org == "org_a" else OTHER, "=1+1", TEXTS[0],
        }  # fmt: skip
        assert mine in content
        assert foreign not in content
        links[org], texts[org] = link, content
    assert links["org_a"] != links["org_b"]
    assert len(texts["org_a"]) == len(texts["org_b"])
    for org, link in links.items():
        assert requests.get(link, timeout=5).content == texts[org]
    contexts["org_a"].close()
    until = time.monotonic() + 10
    while (answer := requests.get(links["org_a"], timeout=5)).status_code == 200 and time.monotonic() < until:
        time.sleep(0.02)  # the server hears of the closed socket a moment later
    assert answer.status_code == 404
    assert requests.get(links["org_b"], timeout=5).content == texts["org_b"]
    contexts["org_b"].close()


@pytest.mark.long
def test_every_format_can_be_taken_and_read(visit: Visit, server: AppServer) -> None:
    page = visit.open(f"{server.url}/drift_alerts?org=org_a")
    expect(page.get_by_role("button", name="Evidence bundle")).to_be_visible(timeout=60_000)
    assert len(json.loads(taken(page, "JSON")[2])["alerts"]) == 3
    assert json.loads(taken(page, "JSON-LD")[2])["count"] == 3
    assert taken(page, "Markdown")[2].startswith(b"# Drift report")
    assert taken(page, "HTML")[2].count(b"<article") == 3
    assert len(pypdfium2.PdfDocument(taken(page, "PDF")[2])) >= 2
    bundle = taken(page, "Evidence bundle")[2]
    assert verify(io.BytesIO(bundle)).differences == ()
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        assert b"FROM observations" in archive.read("queries.sql")
    page.get_by_text("The same from the command line").click()
    expect(page.get_by_text("python -m jobs drift-report --org=org_a")).to_be_visible()
    assert visit.foreign_requests(server.url) == []
    assert page.evaluate("window.__x") is None
