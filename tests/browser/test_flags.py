"""Feature flags in a real browser: change with preview, two tabs, a double click, revert, links and files."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import psycopg
import pytest
from playwright.sync_api import expect

from tests import sample
from tests.app_server import AppServer
from tests.browser.conftest import Visit
from tests.browser.unfolding import close_list, open_list, unfold
from tests.hostile import MARKDOWN, MARKUP, SPREADSHEET
from tests.queries.flags.flag_store import BOOST, WEIGHTING, audit_rows, features_text, live_and_audited
from tests.weighed import add_observed, add_weighed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page, WebSocketRoute

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]


@pytest.fixture(scope="module")
def server(cluster: Cluster, database: str, keeper: Owner) -> Iterator[AppServer]:
    """Six organizations to change, each with three retrievals that weighting changed, and one that is malformed."""
    for title in ("Acme", "Birch", "Cedar", "Dogwood", "Elm", "Fir"):
        org = f"org_{title[0].lower()}"
        sample.add_organization(keeper, org, title, features={"theirs": 1})
        add_weighed(keeper, org, add_observed(keeper, org), 3)
    sample.add_organization(keeper, "org_m", "Mangled", features="[1]")
    started = AppServer(
        DATABASE_URL=cluster.plain_url("dash_read", database),
        RANKSCOPE_WRITE_URL=cluster.plain_url("dash_write", database),
    )
    yield started
    started.stop()


def review(visit: Visit) -> Page:
    page = visit.settled()
    page.get_by_role("button", name=re.compile("Review")).click()
    page.get_by_label("Reason", exact=True).wait_for()
    return page


def confirm(page: Page, reason: str, *, twice: bool = False) -> None:
    page.get_by_label("Reason", exact=True).fill(reason)
    button = page.get_by_role("button", name=re.compile("Confirm"))
    button.dblclick() if twice else button.click()


def told(page: Page, sentence: str) -> None:
    expect(page.locator("[data-testid=stAlert]").filter(has_text=sentence).first).to_be_visible()


@pytest.mark.long
def test_a_change_with_its_preview_from_link_to_audit(visit: Visit, server: AppServer, keeper: Owner) -> None:
    page = visit.open(f"{server.url}/feature_flags?target=org_a")
    review(visit)
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Acme · org_a")).to_be_visible()
    expect(dialog.get_by_text("feedback_weighting_disabled: absent → on")).to_be_visible()
    confirm(page, "  ")
    expect(dialog.get_by_text("A reason is needed")).to_be_visible()
    assert live_and_audited(keeper, "org_a") == ("absent", None)
    confirm(page, "![x](http://127.0.0.1:9/beacon) drift")
    told(page, "The flag was changed.")
    assert live_and_audited(keeper, "org_a") == ("on", "on")
    assert '"theirs": 1' in (features_text(keeper, "org_a") or "")
    row = keeper.execute("select preview, reason, source from rankscope.flag_changes where org_id = 'org_a'").fetchone()
    assert row is not None
    kept = row[0]
    assert (kept["retrievals"], kept["top_changed"], kept["entered"], kept["left"]) == (3, 3, 3, 3)
    assert row[2] == "feature_flags/1"
    assert visit.foreign_requests(server.url) == []


@pytest.mark.long
def test_a_link_marks_the_rows_it_names_and_a_click_goes_back_into_it(visit: Visit, server: AppServer) -> None:
    """The address is the state: rows, list and address say the same, whichever was changed last."""
    page = visit.open(f"{server.url}/feature_flags?target=org_b&target=org_d")
    matrix = page.locator("[data-testid=stDataFrame]").first
    marked = matrix.locator("tr[aria-selected=true]")
    expect(marked).to_have_count(2)
    assert [("Birch" in row, "Dogwood" in row) for row in marked.all_inner_texts()] == [(True, False), (False, True)]
    matrix.locator("canvas").first.click(position={"x": 20, "y": 52}, force=True)  # the first row's box
    expect(page).to_have_url(re.compile("target=org_a"))
    visit.settled()
    expect(marked).to_have_count(3)
    page.get_by_role("button", name=re.compile("Remove.*Birch|Birch.*remove", re.IGNORECASE)).first.click()
    expect(page).not_to_have_url(re.compile("target=org_b"))
    expect(marked).to_have_count(2)
    page.reload()
    visit.settled()
    expect(marked).to_have_count(2)
    assert "Acme" in marked.all_inner_texts()[0]


@pytest.mark.long
def test_a_flag_a_state_and_a_window_go_into_the_address_and_survive_a_reload(visit: Visit, server: AppServer) -> None:
    page = visit.open(f"{server.url}/feature_flags?target=org_b")
    page.get_by_role("radio", name=BOOST).or_(page.get_by_role("button", name=BOOST)).first.click()
    expect(page).to_have_url(re.compile(f"flag={BOOST}"))
    visit.settled()
    page.get_by_label("New state").get_by_text("off", exact=True).click()
    expect(page).to_have_url(re.compile("state=off"))
    visit.settled()
    page.reload()
    visit.settled()
    expect(page.get_by_text("Set to off, it means: boost off.")).to_be_visible()
    expect(page).to_have_url(re.compile("target=org_b"))


@pytest.mark.long
def test_a_second_tab_that_shows_an_old_state_is_told_who_changed_it(
    browser: Browser, server: AppServer, keeper: Owner
) -> None:
    """FLG-5."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    first, second = Visit(context), Visit(context)
    for tab in (first, second):
        tab.open(f"{server.url}/feature_flags?target=org_b")
        review(tab)
    confirm(first.page, "I was first")
    told(first.page, "The flag was changed.")
    confirm(second.page, "I came late")
    told(second.page, "Nothing was changed: the flag is no longer what this page showed.")
    expect(second.page.get_by_text(re.compile(r"It is on now\. absent → on by local:.*: I was first"))).to_be_visible()
    assert audit_rows(keeper, "org_b") == [("absent", "on")]
    context.close()


@pytest.mark.long
def test_a_double_click_is_one_change(visit: Visit, server: AppServer, keeper: Owner) -> None:
    """FLG-4."""
    page = visit.open(f"{server.url}/feature_flags?target=org_c")
    review(visit)
    confirm(page, "twice", twice=True)
    told(page, "The flag was changed.")
    visit.settled()
    page.reload()
    visit.settled()
    assert audit_rows(keeper, "org_c") == [("absent", "on")]
    assert live_and_audited(keeper, "org_c") == ("on", "on")


def test_a_connection_cut_while_the_change_is_made_is_one_change_and_told(
    browser: Browser, server: AppServer, keeper: Owner, cluster: Cluster, database: str
) -> None:
    """FLG-4: someone holds the row, the confirm is sent, the websocket goes, the row is let go."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    visit = Visit(context)
    routes: list[tuple[WebSocketRoute, WebSocketRoute]] = []

    def pass_on(client: WebSocketRoute) -> None:
        routes.append((client, client.connect_to_server()))

    visit.page.route_web_socket(re.compile("_stcore/stream"), pass_on)
    page = visit.open(f"{server.url}/feature_flags?target=org_e")
    review(visit)
    with psycopg.connect(cluster.plain_url("postgres", database)) as holder:
        holder.execute("select 1 from organizations where id = 'org_e' for update")
        confirm(page, "cut short")
        waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
        until = time.monotonic() + 10
        while keeper.execute(waits).fetchone() is None:
            assert time.monotonic() < until
            page.wait_for_timeout(20)
        for end in routes[-1]:
            end.close(code=1011)
    told(page, "The flag was changed.")
    assert len(routes) > 1
    assert audit_rows(keeper, "org_e") == [("absent", "on")]
    again = page.get_by_role("button", name=re.compile("Confirm"))
    if again.count():
        again.click()
        visit.settled()
    page.reload()
    visit.settled()
    assert audit_rows(keeper, "org_e") == [("absent", "on")]
    assert live_and_audited(keeper, "org_e") == ("on", "on")
    context.close()


@pytest.mark.long
def test_back_and_forward_make_nothing_again(visit: Visit, server: AppServer, keeper: Owner) -> None:
    """FLG-4: also from the page that comes after, and with the confirm open."""
    page = visit.open(f"{server.url}/feature_flags?target=org_f")
    page.get_by_label("New state").get_by_text("off", exact=True).click()
    expect(page).to_have_url(re.compile("state=off"))
    review(visit)
    page.go_back()
    visit.settled()
    page.go_forward()
    visit.settled()
    assert audit_rows(keeper, "org_f") == []
    if not page.get_by_label("Reason", exact=True).count():
        review(visit)
    confirm(page, "once")
    told(page, "The flag was changed.")
    page.get_by_role("link", name="Overview").click()
    visit.settled()
    for go in (page.go_back, page.go_forward, page.go_back, page.reload):
        go()
        visit.settled()
    assert audit_rows(keeper, "org_f") == [("absent", "off")]
    assert live_and_audited(keeper, "org_f") == ("off", "off")


@pytest.mark.long
def test_several_organizations_in_one_confirm_each_reported(visit: Visit, server: AppServer, keeper: Owner) -> None:
    page = visit.open(f"{server.url}/feature_flags?target=org_a&target=org_d&target=org_m&flag={BOOST}")
    expect(page.get_by_text("1 chosen organization without a valid flag object.")).to_be_visible()
    review(visit)
    keeper.execute(
        "update organizations set features = features || jsonb_build_object(%s::text, false) where id = 'org_d'",
        (BOOST,),
    )
    confirm(page, "both")
    told(page, "The flag was changed.")
    told(page, "Nothing was changed: the flag is no longer what this page showed.")
    expect(
        page.get_by_text("It is off now. Set outside this dashboard: the audit has no change of it.")
    ).to_be_visible()
    assert live_and_audited(keeper, "org_a", BOOST) == ("on", "on")
    assert live_and_audited(keeper, "org_d", BOOST) == ("off", None)
    assert features_text(keeper, "org_m") == "[1]"


@pytest.mark.long
def test_an_entry_is_opened_by_its_address_and_reverted(visit: Visit, server: AppServer, keeper: Owner) -> None:
    row = keeper.execute("select id from rankscope.flag_changes where org_id = 'org_c'").fetchone()
    assert row is not None
    page = visit.open(f"{server.url}/feature_flags?change={row[0]}")
    expect(page.get_by_role("heading", name=f"Change {row[0]}")).to_be_visible()
    page.get_by_role("button", name="Revert this change").click()
    expect(page.get_by_role("dialog").get_by_text("feedback_weighting_disabled: on → absent")).to_be_visible()
    expect(page.get_by_label("Reason", exact=True)).to_have_value(f"Revert of change {row[0]}")
    page.get_by_role("button", name=re.compile("Confirm")).click()
    told(page, "The flag was changed.")
    expect(page.get_by_text("It cannot be reverted: the flag was changed again since.")).to_be_visible()
    assert audit_rows(keeper, "org_c") == [("absent", "on"), ("on", "absent")]
    assert keeper.execute("select max(reverts_id) from rankscope.flag_changes").fetchone() == row


@pytest.mark.long
def test_a_download_is_the_filtered_set_harmless_and_on_record(visit: Visit, server: AppServer, keeper: Owner) -> None:
    for text in SPREADSHEET:
        keeper.execute(
            """insert into rankscope.flag_changes
                 (org_id, request_id, flag, old_state, new_state, reason, actor, source)
               values ('org_d', gen_random_uuid(), %s, 'absent', 'true', %s, 'mallory', 'test')""",
            (WEIGHTING, text),
        )
    page = visit.open(f"{server.url}/feature_flags?words=mallory")
    files = {}
    for form in ("CSV", "JSON"):
        with page.expect_download() as taken:
            page.get_by_role("button", name=f"Download {form}").click()
        assert re.fullmatch(rf"flag-changes-[0-9a-f]{{32}}\.{form.lower()}", taken.value.suggested_filename)
        files[form] = taken.value.path().read_bytes()
    rows = list(csv.DictReader(io.StringIO(files["CSV"].decode("utf-8-sig"), newline="")))
    assert {row["actor"] for row in rows} == {"mallory"}
    assert {row["reason"].removeprefix("'") for row in rows} == set(SPREADSHEET)
    assert all(row["reason"].startswith("'") for row in rows)
    assert {row["reason"] for row in json.loads(files["JSON"])} == set(SPREADSHEET)
    recorded = keeper.execute(
        "select org_id, kind, format, rows, filter ->> 'words', actor like 'local:%' from rankscope.exports order by id"
    ).fetchall()
    assert recorded == [("org_d", "flag-changes", form, len(SPREADSHEET), "mallory", True) for form in ("csv", "json")]


@pytest.mark.long
def test_hostile_names_keys_and_reasons_run_nothing_and_call_nobody(
    visit: Visit, server: AppServer, keeper: Owner
) -> None:
    """HOS-1, for this page: matrix, list, preview, dialog, history and the opened entry, where each text is literal."""
    entry, targets = 0, list[str]()
    for number, text in enumerate((*MARKUP, *MARKDOWN)):
        org = f"h{number:02} {text[:40]}"
        sample.add_organization(keeper, org, text, features={text: text})
        row = keeper.execute(
            """insert into rankscope.flag_changes
                 (org_id, request_id, flag, old_state, new_state, reason, actor, source)
               values (%s, gen_random_uuid(), %s, 'true', 'absent', %s, %s, %s) returning id""",
            (org, text, text, text, text),
        ).fetchone()
        assert row
        entry = row[0]
        targets = [*targets, org][-25:]
    page = visit.open(f"{server.url}/feature_flags?{urlencode({'target': targets, 'change': entry}, doseq=True)}")
    unfold(page, "Keys that Rankscope does not know")
    open_list(page, "Organizations")
    close_list(page)
    review(visit)
    confirm(page, MARKDOWN[0])
    told(page, "The flag was changed.")
    visit.settled()
    for text in (*MARKUP, *MARKDOWN):
        assert text.encode() in visit.received, text
    opened = "".join(page.locator("[data-testid=stText]").all_text_contents())
    last = MARKDOWN[-1].strip()
    assert last in opened
    assert page.evaluate("window.__x") is None
    assert visit.dialogs == []
    assert visit.foreign_requests(server.url) == []
    assert page.locator("iframe, [href^='javascript:'], object, embed").count() == 0


@pytest.mark.long
@pytest.mark.parametrize(("scheme", "width"), [("light", 900), ("dark", 1400)])
def test_themes_and_widths_fit(browser: Browser, server: AppServer, scheme: str, width: int) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if scheme == "dark" else "light"
    )
    visit = Visit(context)
    page = visit.open(f"{server.url}/feature_flags?target=org_d")
    page.locator("[data-testid=stDataFrame] canvas").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert visit.foreign_requests(server.url) == []
    context.close()
