"""Who cannot see well or has the page read out: axe in a real browser, in both themes."""

from __future__ import annotations

import ast
from itertools import product
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests import sample
from tests.app_server import ROOT, AppServer
from tests.browser.axe import look_at, unroll
from tests.browser.states import DEEPER, SHOWN, THEMES, VIEWS, Demo, Theme, described, opened, reach, serve_demo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.browser.conftest import Visit
    from tests.conftest import Cluster

LOOKS: tuple[tuple[Theme, int], ...] = tuple(product(THEMES, (1400, 900)))
TWO_LOOKS: tuple[tuple[Theme, int], ...] = (("light", 1400), ("dark", 900))


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
def demo(cluster: Cluster, template: str) -> Iterator[Demo]:
    yield from serve_demo(cluster, template)


def save_a_view(visit: Visit, title: str) -> None:
    """Open the saved views and keep the present page among them."""
    visit.page.get_by_text("Saved views", exact=True).click()
    visit.page.get_by_role("textbox", name="Name of this view").fill(title)
    visit.page.get_by_role("textbox", name="Name of this view").press("Enter")
    visit.settled()
    visit.page.get_by_role("button", name="Save this view").click()
    visit.page.get_by_role("button", name="Open this view").wait_for()


def judge(visit: Visit, home: str) -> None:
    """No grave finding, no chart without a name, and nothing asked of anybody else."""
    assert look_at(visit.page) == []
    assert None not in described(visit.page)
    assert visit.foreign_requests(home) == []


@pytest.mark.parametrize("theme", THEMES)
def test_the_first_page_has_no_grave_finding(browser: Browser, server: AppServer, theme: Theme) -> None:
    visit = opened(browser, server.url, theme)
    assert look_at(visit.page) == []
    assert all(described(visit.page))
    visit.page.context.close()


@pytest.mark.long
@pytest.mark.parametrize("name", SHOWN)
def test_no_page_has_a_grave_finding_in_either_theme_and_width(browser: Browser, demo: Demo, name: str) -> None:
    """Every page and part, what its first row or its button opens, and an empty organization, in the demo's store."""
    for theme, width in LOOKS:
        visit = opened(browser, demo.address(name), theme, width)
        unroll(visit.page)  # a calendar closes when its window becomes taller
        reach(visit, name)
        if name in VIEWS:
            save_a_view(visit, f"{theme} {width}")
            visit.settled()
        judge(visit, demo.url)
        visit.page.context.close()


@pytest.mark.long
@pytest.mark.parametrize("name", DEEPER)
def test_what_lies_deeper_has_no_grave_finding(browser: Browser, demo: Demo, name: str) -> None:
    for theme, width in TWO_LOOKS:
        visit = opened(browser, demo.address(name), theme, width)
        reach(visit, name)
        judge(visit, demo.url)
        visit.page.context.close()


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
