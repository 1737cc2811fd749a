"""Search and saved views in a real browser: found, opened, kept, opened again from elsewhere, and handed on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import psycopg
import pytest
from playwright.sync_api import expect

from tests import sample
from tests.app_server import AppServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser.conftest import Visit
    from tests.conftest import Cluster


@pytest.fixture(scope="module")
def server(cluster: Cluster, template: str) -> Iterator[AppServer]:
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        for org, title in (("org_a", "Acme"), ("org_b", "Birch"), ("org_c", "Cedar"), ("org_d", "Dogwood")):
            sample.add_organization(owner, org, title)
            sample.add_retrieval(owner, org, sample.unchanged(8), name="one")
    started = AppServer(
        DATABASE_URL=cluster.plain_url("dash_read", name), RANKSCOPE_WRITE_URL=cluster.plain_url("dash_write", name)
    )
    yield started
    started.stop()
    cluster.drop(name)


def test_find_an_organization_keep_the_view_and_come_back_to_it(visit: Visit, server: AppServer) -> None:
    page = visit.open(server.url)
    box = page.get_by_role("textbox", name="Find")
    box.fill("birch")
    box.press("Enter")
    expect(
        page.get_by_text(
            "1 result: titles and queries among the newest and alerts among the most severe of each organization"
        )
    ).to_be_visible(timeout=20_000)
    expect(page).to_have_url(re.compile("search=birch"))
    found = page.locator("[data-testid=stDataFrame] canvas").first
    found.wait_for()
    page.wait_for_timeout(1000)
    found.click(position={"x": 37, "y": 52}, force=True)  # what lies over the canvas takes the click
    expect(page).to_have_url(re.compile(r"\?org=org_b$"), timeout=20_000)
    visit.settled()
    page.get_by_role("link", name="Health").click()
    page.get_by_role("radio", name="Runs and writers").click()
    expect(page).to_have_url(re.compile("part=runs"))
    visit.settled()
    page.locator("summary", has_text="Saved views").click()
    page.get_by_role("textbox", name="Name of this view").fill("Runs of Birch")
    page.get_by_role("button", name="Save this view").click()
    expect(page.get_by_text("Saved.", exact=True)).to_be_visible(timeout=20_000)
    link = page.locator("[data-testid=stSidebar] [data-testid=stExpander] code").inner_text()
    assert re.fullmatch(rf"{re.escape(server.url)}/health\?org=org_b&part=runs", link)
    page = visit.open(server.url)
    page.locator("summary", has_text="Saved views").click()
    page.get_by_role("button", name="Open this view").click()
    expect(page).to_have_url(link, timeout=20_000)
    expect(page.get_by_text("Writers of the retrieval log")).to_be_visible(timeout=20_000)


def test_no_count_of_letters_lies_on_a_pasted_id_and_a_text_ends_at_the_limit(visit: Visit, server: AppServer) -> None:
    page = visit.open(server.url)
    box = page.get_by_role("textbox", name="Find")
    box.fill("6f1d7a60-95a3-4c39-9d52-3ad8dfb7a1a1")
    page.wait_for_timeout(500)
    expect(page.locator(".st-key-search_box").get_by_text("36/200")).to_be_hidden()
    box.fill("x" * 200)
    box.press("x")
    expect(box).to_have_value("x" * 200)


def test_the_one_thing_found_is_opened_by_keyboard(visit: Visit, server: AppServer) -> None:
    """Buttons in a table are drawn on a canvas, where no key presses them."""
    page = visit.open(server.url)
    page.get_by_role("textbox", name="Find").focus()
    page.keyboard.type("birch")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Open it").press("Enter", timeout=20_000)
    expect(page).to_have_url(re.compile(r"\?org=org_b$"), timeout=20_000)


def test_another_search_leaves_nothing_of_the_one_before_to_be_opened(visit: Visit, server: AppServer) -> None:
    page = visit.open(server.url)
    box, found = page.get_by_role("textbox", name="Find"), page.get_by_role("combobox", name="Found")
    box.fill("c")
    box.press("Enter")
    expect(found).to_have_value(re.compile("Cedar"), timeout=20_000)  # begins with it
    found.click()
    page.get_by_role("option", name="organization: Birch").click()
    expect(found).to_have_value(re.compile("Birch"))
    visit.settled()
    box.fill("d")
    box.press("Enter")
    expect(found).to_have_value(re.compile("Dogwood"), timeout=20_000)
    visit.settled()
    page.get_by_role("button", name="Open it").click()
    expect(page).to_have_url(re.compile(r"\?org=org_d$"), timeout=20_000)


def test_the_list_of_views_shows_the_view_that_its_buttons_act_on(visit: Visit, server: AppServer) -> None:
    """The browser remembers a choice by its name, which a removed view takes with it and a renamed one loses."""
    page = visit.open(f"{server.url}/health?org=org_d")
    page.locator("summary", has_text="Saved views").click()
    chosen = page.get_by_role("combobox", name="Your views")
    link = page.locator("[data-testid=stSidebar] [data-testid=stExpander] code")
    for name, part in (("Alpha", "runs"), ("Beta", "top")):
        page.get_by_role("radio", name={"runs": "Runs and writers", "top": "Top observations"}[part]).click()
        expect(page).to_have_url(re.compile(f"part={part}"))
        visit.settled()
        page.get_by_role("textbox", name="Name of this view").fill(name)
        page.get_by_role("button", name="Save this view").click()
        expect(chosen).to_have_value(name, timeout=20_000)
        visit.settled()
    page.get_by_role("textbox", name="New name").fill("Beta two")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_text("Renamed.", exact=True)).to_be_visible(timeout=20_000)
    expect(chosen).to_have_value("Beta two")
    expect(page.get_by_role("textbox", name="New name")).to_have_value("")
    visit.settled()
    page.get_by_role("textbox", name="New name").fill("Alpha two")
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Removed.", exact=True)).to_be_visible(timeout=20_000)
    expect(chosen).to_have_value("Alpha")
    expect(link).to_have_text(f"{server.url}/health?org=org_d&part=runs")
    expect(page.get_by_role("textbox", name="New name")).to_have_value("")


def test_below_a_path_the_link_of_a_view_leads_below_it(visit: Visit, server: AppServer) -> None:
    below = AppServer(
        arguments=("--server.baseUrlPath", "rankscope"),
        below="/rankscope",
        DATABASE_URL=server.environment["DATABASE_URL"],
        RANKSCOPE_WRITE_URL=server.environment["RANKSCOPE_WRITE_URL"],
    )
    try:
        page = visit.open(f"{below.url}/health?org=org_b")
        page.locator("summary", has_text="Saved views").click()
        page.get_by_role("textbox", name="Name of this view").fill("Health of Birch, below")
        page.get_by_role("button", name="Save this view").click()
        expect(page.get_by_text("Saved.", exact=True)).to_be_visible(timeout=20_000)
        link = f"{below.url}/health?org=org_b"
        # the link of the view that was chosen before stands there until this one's is drawn
        expect(page.locator("[data-testid=stSidebar] [data-testid=stExpander] code")).to_have_text(link)
        page = visit.open(link)
        expect(page.get_by_role("heading", name="Health", exact=True)).to_be_visible(timeout=20_000)
    finally:
        below.stop()
