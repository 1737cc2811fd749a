"""The Observation page in a real browser: its address, its links, hostile texts, and nothing of anyone else's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import psycopg
import pytest
from playwright.sync_api import expect

from tests import sample
from tests.app_server import AppServer
from tests.browser.conftest import Visit
from tests.dossier import OPPOSITE, plant
from tests.driver import Session
from tests.hostile import TEXTS
from tests.scopes import ALIKE, add_observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.conftest import Cluster
    from tests.dossier import Planted

pytestmark = pytest.mark.usefixtures("quiet")

TOKEN = "canary-proxy-token-77d1"  # noqa: S105 - known to this test alone
HOSTILE = tuple(TEXTS[number] for number in (0, 1, 7, 20, 26, 31, 46, 56))


@pytest.fixture(scope="module")
def planted(cluster: Cluster, database: str) -> Planted:
    with psycopg.connect(cluster.plain_url("postgres", database), autocommit=True) as owner:
        found = plant(owner, "org_a")
        for number, text in enumerate(HOSTILE):
            hostile = {"title": text, "agent_id": text, "session_id": text, "tags": [text], "source": text}
            add_observation(owner, "org_a", f"hostile-{number}", text, id=UUID(int=number + 1), **hostile)  # type: ignore[arg-type]
            owner.execute(
                """insert into retrieval_ab_logs (org_id, session_id, query_text, observation_id, unweighted_rank,
                     weighted_rank, weighting_enabled, injected) values ('org_a', %s, %s, %s, 0, 0, true, true)""",
                (text, text, UUID(int=number + 1)),
            )
            owner.execute(
                """insert into observation_weight_history (org_id, observation_id, session_id, outcome, previous_weight,
                     new_weight, alpha) values ('org_a', %s, %s, 'accepted', 1, 1, 0.1)""",
                (UUID(int=number + 1), text),
            )
        owner.execute("insert into rankscope.principals (name, role, orgs) values ('bob', 'viewer', array['org_b'])")
        sample.add_organization(owner, "org_b", "Birch")
    return found


@pytest.fixture(scope="module")
def server(cluster: Cluster, database: str, planted: Planted) -> Iterator[AppServer]:
    assert planted.id
    started = AppServer(DATABASE_URL=cluster.plain_url("dash_read", database))
    yield started
    started.stop()


def address(server: AppServer, observation: object, **more: str) -> str:
    rest = "".join(f"&{name}={value}" for name, value in more.items())
    return f"{server.url}/observation?observation={observation}{rest}"


def click_in_table(page: Page, row: int = 0) -> None:
    """The button in a table's first column; the table is drawn on a canvas."""
    table = page.locator("[data-testid=stDataFrame] canvas").first
    table.wait_for()
    table.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 37, box["y"] + 52 + 35 * row)


@pytest.mark.long
def test_a_deep_link_shows_the_same_in_a_fresh_browser(browser: Browser, server: AppServer, planted: Planted) -> None:
    seen = []
    for scheme in ("light", "dark"):
        context = browser.new_context(
            viewport={"width": 900 if scheme == "dark" else 1400, "height": 1000},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        visit = Visit(context)
        page = visit.open(address(server, planted.id, org="org_b", part="Contradictions"))
        expect(page.locator("[data-testid=stCode]").nth(1)).to_contain_text(OPPOSITE)
        page.locator(".js-plotly-plot .scatterlayer").first.wait_for()
        seen.append((page.locator("[data-testid=stMetricValue]").all_inner_texts(), page.url))
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert visit.complaints == []
        assert visit.foreign_requests(server.url) == []
        context.close()
    assert seen[0] == seen[1]


@pytest.mark.long
def test_a_part_goes_into_the_address_and_survives_a_reload(visit: Visit, server: AppServer, planted: Planted) -> None:
    page = visit.open(address(server, planted.id))
    page.get_by_role("tab", name="Contradictions").click()
    expect(page).to_have_url(re.compile("part=Contradictions"))
    page.reload()
    visit.settled()
    expect(page.get_by_text("Open the other")).to_be_visible()
    page.get_by_text("Open the other").click()
    expect(page).to_have_url(re.compile(f"observation={planted.opposite}"))
    expect(page.locator("[data-testid=stCode]").first).to_contain_text(OPPOSITE)
    page.go_back()
    expect(page.locator("[data-testid=stCode]").first).to_contain_text(ALIKE[0])


@pytest.mark.parametrize(("width", "beside"), [(900, False), (1400, True)])
def test_provenance_has_the_room_for_an_id(
    browser: Browser, server: AppServer, planted: Planted, width: int, *, beside: bool
) -> None:
    """Its two tables stand below each other where a column would cut an id: the field takes 120 pixels of 440."""
    context = browser.new_context(viewport={"width": width, "height": 1000})
    page = Visit(context).open(f"{server.url}/observation?observation={planted.id}&part=Provenance")
    tables = page.locator(".st-key-facts_field [data-testid=stColumn]")
    expect(tables).to_have_count(2)
    first, second = (tables.nth(number).bounding_box() for number in (0, 1))
    assert first is not None
    assert second is not None
    assert (first["y"] == second["y"]) is beside
    assert min(first["width"], second["width"]) >= 440
    context.close()


@pytest.mark.long
def test_a_member_of_the_cluster_opens_with_the_scope_carried_on(
    visit: Visit, server: AppServer, planted: Planted
) -> None:
    page = visit.open(address(server, planted.id, window="7d", part="Cluster"))
    click_in_table(page)
    expect(page).to_have_url(re.compile(f"observation={planted.alike[0]}"))
    expect(page).to_have_url(re.compile("window=7d"))


def test_a_retrieval_leads_to_its_address_and_going_back_to_where_one_was(
    visit: Visit, server: AppServer, planted: Planted
) -> None:
    page = visit.open(address(server, planted.id, window="7d", below="x"))
    here = page.url
    click_in_table(page, row=1)
    newest = min(map(str, planted.retrievals[-2:]))
    expect(page).to_have_url(re.compile(f"/inspector\\?.*retrieval={newest}"))
    expect(page).to_have_url(re.compile("window=7d"))
    expect(page.get_by_label("Question")).not_to_have_value("")
    page.go_back()
    expect(page.locator("[data-testid=stCode]").first).to_contain_text(ALIKE[0])
    expect(page).to_have_url(here)
    assert visit.complaints == []


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_texts_are_shown_literally(visit: Visit, server: AppServer, number: int) -> None:
    text = HOSTILE[number]
    page = visit.open(address(server, UUID(int=number + 1), part="Weight" if number % 2 else "Provenance"))
    page.locator(".js-plotly-plot .scatterlayer").first.wait_for()
    assert text in (page.locator("[data-testid=stCode] code").first.text_content() or "")
    assert page.evaluate("window.__x") is None
    assert visit.dialogs == []
    assert visit.foreign_requests(server.url) == []
    assert page.locator("iframe, [href^='javascript:'], object, embed").count() == 0
    assert visit.complaints == []


@pytest.mark.long
def test_a_foreign_id_is_answered_as_an_unknown_one_and_leaks_nothing(
    cluster: Cluster, database: str, planted: Planted
) -> None:
    """Bob may see Birch alone: of Acme's observation no byte may reach him, not even that it exists."""
    server = AppServer(
        DATABASE_URL=cluster.plain_url("dash_read", database), RANKSCOPE_AUTH="proxy", RANKSCOPE_PROXY_TOKEN=TOKEN
    )
    headers = {"X-Forwarded-User": "bob", "X-Proxy-Token": TOKEN}
    try:
        said = []
        for observation in (planted.id, uuid4()):
            for part in ("Retrievals", "Neighbours"):
                query = f"observation={observation}&part={part}"
                with Session(server.url, query=query, page="observation", headers=headers) as session:
                    session.run()
                said.append((session.bodies("alert"), session.bodies("text"), session.bodies("markdown")))
                assert session.bodies("exception") == []
                for secret in ("CANARY-org_a", ALIKE[0], OPPOSITE, "agent-a", "org_a"):
                    assert secret.encode() not in session.received
        assert all(each == said[0] for each in said)
        assert "No such observation" in said[0][0][0]
    finally:
        server.stop()
