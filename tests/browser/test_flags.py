"""Feature flags in a real browser: change with preview, two tabs, a double click, a cut connection, revert."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import psycopg
import pytest
from playwright.sync_api import expect

from tests import sample
from tests.browser.conftest import Visit
from tests.browser.flag_steps import confirm, review, told
from tests.browser.unfolding import close_list, open_list, unfold
from tests.hostile import MARKDOWN, MARKUP
from tests.queries.flags.flag_store import BOOST, audit_rows, features_text, live_and_audited

if TYPE_CHECKING:
    from playwright.sync_api import Browser, WebSocketRoute

    from tests.app_server import AppServer
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]


@pytest.mark.long
def test_a_change_with_its_preview_from_link_to_audit(visit: Visit, flags_server: AppServer, keeper: Owner) -> None:
    page = visit.open(f"{flags_server.url}/feature_flags?target=org_a&state=on")
    review(visit)
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Acme · org_a")).to_be_visible()
    expect(dialog.get_by_text("feedback_weighting_disabled: absent → on")).to_be_visible()
    confirm(page, "  ")
    expect(dialog.get_by_text("A reason is needed")).to_be_visible()
    assert live_and_audited(keeper, "org_a") == ("absent", None)
    confirm(page, "![x](http://127.0.0.1:9/beacon) drift")
    told(page, "The flag was changed.")
    expect(page).not_to_have_url(re.compile("state="))  # what was made is proposed no more
    assert live_and_audited(keeper, "org_a") == ("on", "on")
    assert '"theirs": 1' in (features_text(keeper, "org_a") or "")
    row = keeper.execute("select preview, reason, source from rankscope.flag_changes where org_id = 'org_a'").fetchone()
    assert row is not None
    kept = row[0]
    assert (kept["retrievals"], kept["top_changed"], kept["entered"], kept["left"]) == (3, 3, 3, 3)
    assert row[2] == "feature_flags/1"
    assert visit.foreign_requests(flags_server.url) == []


@pytest.mark.long
def test_a_second_tab_that_shows_an_old_state_is_told_who_changed_it(
    browser: Browser, flags_server: AppServer, keeper: Owner
) -> None:
    """FLG-5."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    first, second = Visit(context), Visit(context)
    for tab in (first, second):
        tab.open(f"{flags_server.url}/feature_flags?target=org_b&state=on")
        review(tab)
    confirm(first.page, "I was first")
    told(first.page, "The flag was changed.")
    confirm(second.page, "I came late")
    told(second.page, "Nothing was changed: the flag is no longer what this page showed.")
    expect(second.page.get_by_text(re.compile(r"It is on now\. absent → on by local:.*: I was first"))).to_be_visible()
    assert audit_rows(keeper, "org_b") == [("absent", "on")]
    context.close()


@pytest.mark.long
def test_a_double_click_is_one_change(visit: Visit, flags_server: AppServer, keeper: Owner) -> None:
    """FLG-4."""
    page = visit.open(f"{flags_server.url}/feature_flags?target=org_c&state=on")
    review(visit)
    confirm(page, "twice", twice=True)
    told(page, "The flag was changed.")
    visit.settled()
    page.reload()
    visit.settled()
    assert audit_rows(keeper, "org_c") == [("absent", "on")]
    assert live_and_audited(keeper, "org_c") == ("on", "on")


def test_a_connection_cut_while_the_change_is_made_is_one_change_and_told(
    browser: Browser, flags_server: AppServer, keeper: Owner, cluster: Cluster, database: str
) -> None:
    """FLG-4: someone holds the row, the confirm is sent, the websocket goes, the row is let go."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    visit = Visit(context)
    routes: list[tuple[WebSocketRoute, WebSocketRoute]] = []

    def pass_on(client: WebSocketRoute) -> None:
        routes.append((client, client.connect_to_server()))

    visit.page.route_web_socket(re.compile("_stcore/stream"), pass_on)
    page = visit.open(f"{flags_server.url}/feature_flags?target=org_e&state=on")
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
def test_back_and_forward_make_nothing_again(visit: Visit, flags_server: AppServer, keeper: Owner) -> None:
    """FLG-4: also from the page that comes after, and with the confirm open."""
    page = visit.open(f"{flags_server.url}/feature_flags?target=org_f&state=on")
    page.get_by_label("New state").get_by_text(re.compile("flag off")).click()
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
def test_several_organizations_in_one_confirm_each_reported(
    visit: Visit, flags_server: AppServer, keeper: Owner
) -> None:
    page = visit.open(f"{flags_server.url}/feature_flags?target=org_a&target=org_d&target=org_m&flag={BOOST}&state=on")
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
def test_an_entry_is_opened_by_its_address_and_reverted(visit: Visit, flags_server: AppServer, keeper: Owner) -> None:
    row = keeper.execute("select id from rankscope.flag_changes where org_id = 'org_c'").fetchone()
    assert row is not None
    page = visit.open(f"{flags_server.url}/feature_flags?change={row[0]}")
    expect(page.get_by_role("heading", name=f"Change {row[0]}")).to_be_visible()
    page.get_by_role("button", name="Revert this change").click()
    expect(page.get_by_role("dialog").get_by_text("feedback_weighting_disabled: on → absent")).to_be_visible()
    expect(page.get_by_label("Reason", exact=True)).to_have_value(f"Revert of change {row[0]}")
    page.get_by_role("button", name=re.compile("Confirm")).click()
    told(page, "The flag was changed.")
    expect(page.get_by_text(f"Reverts {row[0]}", exact=True)).to_be_visible()
    assert audit_rows(keeper, "org_c") == [("absent", "on"), ("on", "absent")]
    assert keeper.execute("select max(reverts_id) from rankscope.flag_changes").fetchone() == row


@pytest.mark.long
def test_hostile_names_keys_and_reasons_run_nothing_and_call_nobody(
    visit: Visit, flags_server: AppServer, keeper: Owner
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
    page = visit.open(
        f"{flags_server.url}/feature_flags?{urlencode({'target': targets, 'state': 'on', 'change': entry}, doseq=True)}"
    )
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
    assert visit.foreign_requests(flags_server.url) == []
    assert page.locator("iframe, [href^='javascript:'], object, embed").count() == 0


@pytest.mark.long
@pytest.mark.parametrize(("scheme", "width"), [("light", 900), ("dark", 1400)])
def test_themes_and_widths_fit(browser: Browser, flags_server: AppServer, scheme: str, width: int) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if scheme == "dark" else "light"
    )
    visit = Visit(context)
    page = visit.open(f"{flags_server.url}/feature_flags?target=org_d&state=on")
    page.locator("[data-testid=stDataFrame] canvas").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert visit.foreign_requests(flags_server.url) == []
    context.close()
