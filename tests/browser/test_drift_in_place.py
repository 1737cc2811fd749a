"""What stays where it is on Drift Alerts: buttons below a decision, dates above a legend, an alert on its own page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from controls.drift.worklist import PAGE
from tests import sample
from tests.app_server import AppServer
from tests.drift_store import PORTS, add_pair

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from tests.browser.conftest import Visit
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

FIRST = re.compile("alert 1 of")
# the lower edge of the dates and the upper one of the legend, in the picture whose legend names ages
EDGES = """() => {
  const one = [...document.querySelectorAll('.js-plotly-plot')].find(each => /under 7 days/.test(each.textContent));
  const dates = [...one.querySelectorAll('.xtick text')].map(each => each.getBoundingClientRect().bottom);
  return [Math.max(...dates), one.querySelector('.legend').getBoundingClientRect().top, one.offsetWidth];
}"""


@pytest.fixture(scope="module")
def server(cluster: Cluster, database: str, keeper: Owner) -> Iterator[AppServer]:
    """Acme with more contradictions than a page of the list holds, also when some are decided."""
    sample.add_organization(keeper, "org_a", "Acme")
    for number in range(PAGE + 5):
        older, newer = (text.replace("dispatch", f"z{number}q") for text in PORTS)
        add_pair(keeper, "org_a", f"p{number}", (older, newer), f"project {number}")
    started = AppServer(
        DATABASE_URL=cluster.plain_url("dash_read", database),
        RANKSCOPE_WRITE_URL=cluster.plain_url("dash_write", database),
    )
    yield started
    started.stop()


def test_a_decision_leaves_its_buttons_where_they_are(visit: Visit, server: AppServer) -> None:
    page = visit.open(f"{server.url}/drift_alerts?org=org_a")
    page.get_by_role("button", name="Open the first").click()
    expect(page.get_by_text(FIRST)).to_be_visible()
    visit.settled()
    button = page.get_by_role("button", name=re.compile("^Resolve: older"))
    before = button.bounding_box()
    for key, told in (("a", "Saved."), ("f", "left out of list and files"), ("u", "False positive: undone.")):
        page.keyboard.press(key)
        expect(page.get_by_text(told)).to_be_visible()
        visit.settled()
        assert button.bounding_box() == before, key
    assert page.get_by_role("button", name="Undo").count() == 0


def test_turning_a_page_closes_the_alert_that_has_no_row_there(visit: Visit, server: AppServer) -> None:
    page = visit.open(f"{server.url}/drift_alerts?org=org_a")
    page.get_by_role("button", name="Open the first").click()
    expect(page.get_by_text(FIRST)).to_be_visible()
    visit.settled()
    page.get_by_role("button", name="Next page", exact=True).click()
    expect(page).to_have_url(re.compile("page=2"))
    expect(page.get_by_text(FIRST)).to_have_count(0)
    assert "alert=" not in page.url


def test_a_legend_lies_below_the_dates_also_after_a_window_was_narrow(visit: Visit, server: AppServer) -> None:
    page = visit.open(f"{server.url}/drift_alerts?org=org_a")
    expect(page.get_by_text("under 7 days")).to_be_visible()
    seen = set()
    for width in (390, 600, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(1_500)
        dates, legend, wide = page.evaluate(EDGES)
        assert legend > dates + 2, width
        seen.add(wide)
    assert len(seen) == 3
