"""Links to Feature flags and files from there, in a real browser."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.hostile import SPREADSHEET
from tests.queries.flags.flag_store import BOOST, WEIGHTING

if TYPE_CHECKING:
    import psycopg

    from tests.app_server import AppServer
    from tests.browser.conftest import Visit

    Owner = psycopg.Connection[Any]


@pytest.mark.long
def test_a_link_marks_the_rows_it_names_and_a_click_goes_back_into_it(visit: Visit, flags_server: AppServer) -> None:
    """The address is the state: rows, list and address say the same, whichever was changed last."""
    page = visit.open(f"{flags_server.url}/feature_flags?target=org_b&target=org_d")
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
def test_a_flag_a_state_and_a_window_go_into_the_address_and_survive_a_reload(
    visit: Visit, flags_server: AppServer
) -> None:
    page = visit.open(f"{flags_server.url}/feature_flags?target=org_b")
    page.get_by_role("radio", name=BOOST).or_(page.get_by_role("button", name=BOOST)).first.click()
    expect(page).to_have_url(re.compile(f"flag={BOOST}"))
    visit.settled()
    page.get_by_label("New state").get_by_text(re.compile("flag off")).click()
    expect(page).to_have_url(re.compile("state=off"))
    visit.settled()
    page.reload()
    visit.settled()
    expect(page.get_by_text("Set to off, it means: boost off.")).to_be_visible()
    expect(page).to_have_url(re.compile("target=org_b"))


@pytest.mark.long
def test_a_download_is_the_filtered_set_harmless_and_on_record(
    visit: Visit, flags_server: AppServer, keeper: Owner
) -> None:
    for text in SPREADSHEET:
        keeper.execute(
            """insert into rankscope.flag_changes
                 (org_id, request_id, flag, old_state, new_state, reason, actor, source)
               values ('org_d', gen_random_uuid(), %s, 'absent', 'true', %s, 'mallory', 'test')""",
            (WEIGHTING, text),
        )
    page = visit.open(f"{flags_server.url}/feature_flags?words=mallory")
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
