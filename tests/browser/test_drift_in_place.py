"""What stays where it is on Drift Alerts: buttons below a decision, dates above a legend, an alert on its own page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from controls.drift.worklist import PAGE
from tests import sample
from tests.app_server import AppServer
from tests.browser.conftest import Visit
from tests.drift_store import PORTS, add_pair

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from playwright.sync_api import Browser

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

FIRST = re.compile("alert 1 of")
CLICKED = re.compile("^(Previous|Next|Close|Acknowledge|Investigate|False positive|Resolve: |Save note|Snooze)")
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


@pytest.mark.parametrize(("width", "first"), [(1400, "a"), (1100, "i"), (900, "a")])  # each another than before
def test_a_decision_leaves_its_buttons_where_they_are(visit: Visit, server: AppServer, width: int, first: str) -> None:
    """Those that decide, the ways to other alerts above them, and what saves a note and snoozes below."""
    visit.page.set_viewport_size({"width": width, "height": 1000})
    page = visit.open(f"{server.url}/drift_alerts?org=org_a")
    page.get_by_role("button", name="Open the first").click()
    expect(page.get_by_text(FIRST)).to_be_visible()
    visit.settled()
    buttons = page.get_by_role("button", name=CLICKED)
    before = [button.bounding_box() for button in buttons.all()]
    assert len(before) == 13
    for key, told in ((first, "Saved."), ("f", "filtered out of list and files"), ("u", "False positive: undone.")):
        page.keyboard.press(key)
        expect(page.get_by_text(told)).to_be_visible()
        visit.settled()
        assert [button.bounding_box() for button in buttons.all()] == before, key
    assert page.get_by_role("button", name="Undo").count() == 0


def test_a_refused_decision_leaves_every_button_where_it_is(
    visit: Visit, browser: Browser, server: AppServer, keeper: Owner
) -> None:
    """What cannot be stored, a store that fails, and someone who was faster: told in sight, and no button moves."""
    page = visit.open(f"{server.url}/drift_alerts?org=org_a")
    page.get_by_role("button", name="Open the first").click()
    expect(page.get_by_text(FIRST)).to_be_visible()
    visit.settled()
    labels = ("Resolve: older", "Save note and owner", "Snooze")
    buttons = [page.get_by_role("button", name=re.compile(f"^{label}")) for label in labels]
    before = [button.bounding_box() for button in buttons]

    def refused(told: str) -> None:
        expect(page.get_by_text(told)).to_be_in_viewport()
        visit.settled()
        assert [button.bounding_box() for button in buttons] == before, told

    keeper.execute("revoke insert on rankscope.drift_triage_events from dash_write")
    page.keyboard.press("f")
    refused("may not")
    buttons[1].click()
    refused("may not")
    keeper.execute("grant insert on rankscope.drift_triage_events to dash_write")
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    other = Visit(context)
    other.open(page.url)
    expect(other.page.get_by_text(FIRST)).to_be_visible()
    other.settled()
    other.page.keyboard.press("i")
    expect(other.page.get_by_text("Saved.")).to_be_visible()
    context.close()
    buttons[0].click()
    refused("someone else was faster")
    expect(page.get_by_text(re.compile("→ investigating by"))).to_be_in_viewport()


def test_a_refusal_moves_no_decision_in_a_narrow_window(visit: Visit, server: AppServer, keeper: Owner) -> None:
    visit.page.set_viewport_size({"width": 900, "height": 900})
    page = visit.open(f"{server.url}/drift_alerts?org=org_a")
    page.get_by_role("button", name="Open the first").click()
    expect(page.get_by_text(FIRST)).to_be_visible()
    visit.settled()
    decisions = page.get_by_role("button", name=re.compile("^(Acknowledge|Investigate|False positive|Resolve: )"))
    before = [button.bounding_box() for button in decisions.all()]
    keeper.execute("revoke insert on rankscope.drift_triage_events from dash_write")
    page.keyboard.press("f")
    expect(page.get_by_text("Not saved: why stands below the decisions.")).to_be_in_viewport()
    expect(page.get_by_text("The database user may not do this")).to_be_visible()
    visit.settled()
    keeper.execute("grant insert on rankscope.drift_triage_events to dash_write")
    assert [button.bounding_box() for button in decisions.all()] == before
    assert len(before) == 6


def test_the_list_turns_to_the_page_of_the_alert_before_and_after(visit: Visit, server: AppServer) -> None:
    page = visit.open(f"{server.url}/drift_alerts?org=org_a&page=2")
    page.get_by_role("button", name="Open the first").click()
    for key, place, listed, address in (
        ("", PAGE + 1, f": {PAGE + 1} to ", "page=2"),
        ("p", PAGE, f": 1 to {PAGE}.", "^((?!page=).)*$"),
        ("n", PAGE + 1, f": {PAGE + 1} to ", "page=2"),
    ):
        if key:
            page.keyboard.press(key)
        expect(page.get_by_text(f"alert {place} of")).to_be_visible()
        expect(page.get_by_text(listed)).to_be_visible()
        expect(page).to_have_url(re.compile(address))
        visit.settled()
    page.go_back()
    expect(page.get_by_text(f"alert {PAGE} of")).to_be_visible()
    expect(page.get_by_text(f": 1 to {PAGE}.")).to_be_visible()


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
