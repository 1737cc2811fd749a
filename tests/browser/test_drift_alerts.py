"""Drift Alerts in a real browser: sliders and their address, triage by keyboard, two operators, hostile texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from analysis.drift.alerts import AlertFilter
from analysis.drift.weighing import find_alerts
from queries.engine import Store, make_engine
from ranking import DEFAULT_PAIRS
from ranking.contradictions import Kind
from ranking.contradictions.findings import fingerprint
from tests import sample
from tests.app_server import AppServer
from tests.browser.conftest import Visit
from tests.drift_store import LOGS, PORTS, RETRIES, add_given, add_pair, window
from tests.hostile import MARKDOWN, MARKUP

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from playwright.sync_api import Browser, Page

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

STATEMENT = "[class*=st-key-statement_]"
SYNC = ("The nightly sync job is enabled in region four.", "The nightly sync job is disabled in region four.")


@pytest.fixture(scope="module")
def server(cluster: Cluster, database: str, keeper: Owner) -> Iterator[AppServer]:
    """Acme and Birch with three contradictions each; Cedar with hostile ones; Pine with two opposed pairs of words."""
    for org, title in (("org_a", "Acme"), ("org_b", "Birch"), ("org_c", "Cedar"), ("org_p", "Pine")):
        sample.add_organization(keeper, org, title)
    for org in ("org_a", "org_b"):
        add_pair(keeper, org, "ports", PORTS)
        add_pair(keeper, org, "logs", LOGS, days=40)
        retries = add_pair(keeper, org, "retries", RETRIES, days=50)
        for session in range(8):
            sample.add_session(keeper, org, f"s{session}")
            add_given(keeper, org, f"s{session}", list(retries))
    add_pair(keeper, "org_p", "retries", RETRIES)
    add_pair(keeper, "org_p", "sync", SYNC, days=40)
    for number, text in enumerate((*MARKUP, *MARKDOWN)):
        subject = f"The z{number}q collector listens on port"
        add_pair(keeper, "org_c", f"h{number}", (f"{subject} 8080. {text}", f"{subject} 9090. {text}"), text, by=text)
    started = AppServer(
        DATABASE_URL=cluster.plain_url("dash_read", database),
        RANKSCOPE_WRITE_URL=cluster.plain_url("dash_write", database),
    )
    yield started
    started.stop()


@pytest.fixture(scope="module")
def prints(cluster: Cluster, database: str, server: AppServer) -> dict[str, tuple[str, ...]]:
    """The fingerprints of each organization, the most harmful first."""
    assert server
    store = Store(make_engine(cluster.url("dash_read", database), name="prints"))
    found = {org: find_alerts(store, window(org), AlertFilter(0.5)).fingerprints for org in ("org_a", "org_b", "org_c")}
    store.close()
    return found


@pytest.fixture(scope="module")
def hostile(prints: dict[str, tuple[str, ...]], keeper: Owner) -> dict[str, str]:
    """What the statements of each of Cedar's alerts hold, by fingerprint, the most harmful first."""
    texts: dict[str, str] = {}
    for number, text in enumerate((*MARKUP, *MARKDOWN)):
        found = keeper.execute(
            "select id::text, content from observations where org_id = 'org_c' and content like %s order by created_at",
            (f"The z{number}q %",),
        ).fetchall()
        older, newer = found
        texts[fingerprint(older, newer, Kind.VALUE)] = text
    return {name: texts[name] for name in prints["org_c"] if name in texts}


def bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


def searched(visit: Visit) -> Page:
    """The page once the search is over; a worker starts with the first one. An open alert folds the figures."""
    expect(visit.page.get_by_text("UTC, inside each project")).to_be_visible(timeout=90_000)
    return visit.settled()


def opened(visit: Visit, address: str) -> Page:
    visit.page.goto(address)
    return searched(visit)


def state(owner: Owner, fingerprint: str) -> tuple[Any, ...] | None:
    return owner.execute(
        "select state, version from rankscope.drift_triage where fingerprint = %s", (fingerprint,)
    ).fetchone()


def events(owner: Owner, fingerprint: str) -> int:
    row = owner.execute(
        "select count(*) from rankscope.drift_triage_events where fingerprint = %s", (fingerprint,)
    ).fetchone()
    assert row
    return int(row[0])


@pytest.mark.long
def test_a_slider_goes_into_the_address_and_survives_a_reload(visit: Visit, server: AppServer) -> None:
    page = opened(visit, f"{server.url}/drift_alerts?org=org_a")
    expect(page.get_by_text("3 alerts, the most harmful first.")).to_be_visible()
    page.get_by_role("slider", name="Threshold").press("End")  # one move: the page answers each
    expect(page).to_have_url(re.compile(r"t=1\b"))
    expect(page.get_by_text("2 alerts, the most harmful first.")).to_be_visible()
    page.reload()
    searched(visit)
    expect(page.get_by_text("2 alerts, the most harmful first.")).to_be_visible()
    expect(page.get_by_role("slider", name="Threshold")).to_have_value("1")
    assert visit.foreign_requests(server.url) == []


def test_triage_by_keyboard_and_after_a_reload(
    visit: Visit, server: AppServer, keeper: Owner, prints: dict[str, tuple[str, ...]]
) -> None:
    first, second, _ = prints["org_a"]
    page = opened(visit, f"{server.url}/drift_alerts?org=org_a&alert={first}")
    expect(page.get_by_text("alert 1 of 3")).to_be_visible()
    note = page.get_by_label("Note", exact=True)
    note.fill("a fine affair")  # letters of a note decide nothing
    note.press("Tab")
    page.locator("h1").click()
    visit.settled()
    page.keyboard.press("a")
    expect(page.get_by_text("Saved.")).to_be_visible()
    frame = page.locator("main:focus-visible").evaluate("main => getComputedStyle(main, '::before').boxShadow")
    assert frame.endswith("3px 0px 0px 0px inset")  # a line at the page's edge, and not around it
    assert state(keeper, first) == ("acknowledged", 1)
    visit.settled()
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile(second))
    visit.settled()
    page.keyboard.press("f")
    expect(page.get_by_text("filtered out of list and files")).to_be_visible()
    assert state(keeper, second) == ("false_positive", 1)
    visit.settled()
    page.keyboard.press("p")
    expect(page).to_have_url(re.compile(first))
    visit.settled()
    page.keyboard.press("2")
    expect(page.get_by_text("✓ resolved · the newer is right")).to_be_visible()
    page.reload()
    searched(visit)
    expect(page.get_by_text("✓ resolved · the newer is right")).to_be_visible()
    assert (state(keeper, first), events(keeper, first)) == (("resolved", 2), 2)
    assert keeper.execute(
        "select note from rankscope.drift_triage_events where fingerprint = %s order by id", (first,)
    ).fetchone() == ("a fine affair",)


def in_sight(page: Page) -> list[bool]:
    """Whether the way on from an alert, both its statements and the last decision below them lie in the window."""
    page.wait_for_timeout(500)  # the list shrinks, and what stands below it follows
    last = page.get_by_role("button", name="Resolve: both, in their scope")
    seen = (page.get_by_text(re.compile(r"alert \d+ of \d+")), *page.locator(STATEMENT).all(), last)
    boxes = [each.bounding_box() for each in seen]
    height = page.evaluate("innerHeight")
    return [box is not None and box["y"] >= 0 and box["y"] + box["height"] <= height for box in boxes]


@pytest.mark.parametrize(("width", "seen"), [(1400, 4), (900, 2)])  # in a narrow window one statement below the other
def test_an_alert_is_opened_in_sight_and_closed_with_its_filters(
    browser: Browser, server: AppServer, prints: dict[str, tuple[str, ...]], width: int, seen: int
) -> None:
    """By a click in the table wherever that stands, by a key and by a link; the filters stay in the address."""
    context = browser.new_context(viewport={"width": width, "height": 800})
    visit = Visit(context)
    page = opened(visit, f"{server.url}/drift_alerts?org=org_a&sev=5&state=new,acknowledged,resolved,false_positive")
    table, sight = page.get_by_test_id("stDataFrame").first, [True] * seen
    for top in (500, 350, 200, 60):  # pixels from the window's top to the table's
        table.evaluate(
            "(table, top) => document.querySelector('[data-testid=stMain]')"
            ".scrollBy(0, table.getBoundingClientRect().top - top)",
            top,
        )
        page.wait_for_timeout(500)
        table.locator("canvas").first.click(position={"x": 30, "y": 50}, force=True)  # the first row's button
        expect(page).to_have_url(re.compile(f"alert={prints['org_a'][0]}"))
        visit.settled()
        assert in_sight(page)[: len(sight)] == sight, top
        expect(page.get_by_role("slider", name="Minimum severity")).to_be_hidden()
        page.keyboard.press("Escape")
        expect(page.get_by_role("slider", name="Minimum severity")).to_have_value("5")
        expect(page).not_to_have_url(re.compile("alert="))
        expect(page).to_have_url(re.compile("sev=5"))
        visit.settled()
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile(f"alert={prints['org_a'][0]}"))
    visit.settled()
    assert in_sight(page)[: len(sight)] == sight
    page.goto(page.url)
    expect(page.get_by_text(re.compile(r"alert 1 of \d"))).to_be_visible()
    visit.settled()
    assert in_sight(page)[: len(sight)] == sight
    context.close()


@pytest.mark.long
def test_two_operators_on_one_alert_and_a_double_click(
    visit: Visit, browser: Browser, server: AppServer, keeper: Owner, prints: dict[str, tuple[str, ...]]
) -> None:
    shared = prints["org_b"][0]
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    other = Visit(context)
    for each in (visit, other):
        opened(each, f"{server.url}/drift_alerts?org=org_b&alert={shared}")
    visit.page.get_by_role("button", name=re.compile("Investigate")).dblclick()
    expect(visit.page.get_by_text("Saved.")).to_be_visible()
    assert (state(keeper, shared), events(keeper, shared)) == (("investigating", 1), 1)
    other.page.get_by_role("button", name=re.compile("False positive")).click()
    told = other.page.get_by_text("Nothing was saved: someone else was faster")
    expect(told).to_be_visible()
    expect(other.page.get_by_text(re.compile("new → investigating by"))).to_be_visible()
    assert (state(keeper, shared), events(keeper, shared)) == (("investigating", 1), 1)
    other.settled()
    other.page.get_by_role("button", name=re.compile("False positive")).click()
    expect(other.page.get_by_text("Saved.")).to_be_visible()
    assert state(keeper, shared) == ("false_positive", 2)
    context.close()


@pytest.mark.long
@pytest.mark.timeout(400)
def test_hostile_texts_are_shown_and_not_obeyed(visit: Visit, server: AppServer, hostile: dict[str, str]) -> None:
    """In the list who said it, project and text; opened, both statements: each letter, but for where lines end."""
    assert len(hostile) > 25
    for name in list(hostile)[::4]:
        page = opened(visit, f"{server.url}/drift_alerts?org=org_c&alert={name}")
        expect(page.get_by_text(re.compile("Shown by “8080”"))).to_be_visible()
        drawn = "".join(page.locator(".js-plotly-plot text").all_text_contents())
        assert bare(drawn).count(bare(hostile[name])) >= 2, hostile[name]
        assert page.locator("[data-testid=stMain] :is(img, iframe, object, [href^='javascript:'])").count() == 0
        assert page.evaluate("window.__x") is None
    for text in hostile.values():
        assert text.encode() in visit.received, text
    assert visit.foreign_requests(server.url) == []
    assert visit.dialogs == []


@pytest.mark.long
def test_opposition_pairs_are_edited_saved_and_reset(visit: Visit, server: AppServer, keeper: Owner) -> None:
    """What is found follows the pairs: by the defaults two, by one that fits nothing none, edited one, reset two."""
    page = opened(visit, f"{server.url}/drift_alerts?org=org_p")
    expect(page.get_by_text("2 alerts, the most harmful first.")).to_be_visible()
    keeper.execute("insert into rankscope.opposition_pairs values ('org_p', 'required', 'cold', 'me')")
    page.reload()
    searched(visit)
    expect(page.get_by_text("No two statements of this scope contradict each other")).to_be_visible()
    page.get_by_text("Opposition pairs", exact=True).click()
    expect(page.get_by_text(re.compile("1 pair, set here"))).to_be_visible()
    expect(page.get_by_role("button", name="Save pairs")).to_be_disabled()
    visit.settled()
    cells = page.locator("[class*=st-key-pairs_org_p] canvas").first
    cells.scroll_into_view_if_needed()
    cells.click(position={"x": 330, "y": 52}, force=True)  # what the other says, in the first row
    page.keyboard.press("Enter")
    cell = page.locator("#portal").locator("textarea, input").first
    cell.fill("optional")
    cell.press("Enter")
    expect(page.get_by_text("1 pair added, 1 pair removed, not saved yet.")).to_be_visible()
    visit.settled()
    page.get_by_role("button", name="Save pairs").click()
    expect(page.get_by_text("Opposition pairs: Saved.")).to_be_visible()
    expect(page.get_by_text("1 alert, the most harmful first.")).to_be_visible()
    page.reload()
    searched(visit)
    expect(page.get_by_text("1 alert, the most harmful first.")).to_be_visible()
    stored = "select one, other from rankscope.opposition_pairs where org_id = 'org_p'"
    assert keeper.execute(stored).fetchall() == [("required", "optional")]
    page.get_by_text("Opposition pairs", exact=True).click()
    expect(page.get_by_text(re.compile("1 pair, set here"))).to_be_visible()
    visit.settled()
    page.get_by_role("button", name="Reset to defaults").last.click()
    expect(page.get_by_text("2 alerts, the most harmful first.")).to_be_visible()
    expect(page.get_by_text(re.compile("pairs, the defaults"))).to_be_visible()
    assert keeper.execute(stored).fetchall() == []
    edited, reset = keeper.execute(
        "select action, added, removed, actor like 'local:%' from rankscope.opposition_changes order by id"
    ).fetchall()
    assert edited == ("edited", [["required", "optional"]], [["required", "cold"]], True)
    # the pair is one of the defaults: it stays, and all the others come back
    assert (reset[0], len(reset[1]), reset[2:]) == ("reset", len(DEFAULT_PAIRS) - 1, ([], True))
