"""Files taken, on Drift Alerts: what is on record of this organization, drawn anew when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controls.access import Principal
from tests.pages.drift_page import press

if TYPE_CHECKING:
    import pandas as pd
    import psycopg
    from streamlit.testing.v1 import AppTest

    from tests.pages.drift_page import Show

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_contradictions")
VERA = Principal("vera", "viewer", frozenset({"org_a"}), "proxy")


def record(owner: Owner, org: str, name: str) -> None:
    owner.execute(
        """insert into rankscope.exports (org_id, kind, format, filter, rows, file_name, actor)
           values (%s, 'drift-report', 'pdf', jsonb_build_object('sha256', repeat('5', 64)), 3, %s, 'omar')""",
        (org, name),
    )


def files(test: AppTest) -> pd.DataFrame | None:
    assert not test.exception
    return next((each.value for each in test.dataframe if "sha256" in each.value), None)


def texts(test: AppTest) -> str:
    return " ".join(each.value for each in [*test.caption, *test.info, *test.warning])


@pytest.mark.parametrize("who", [None, VERA], ids=["operator", "viewer"])
def test_a_file_stands_there_after_refresh_and_no_other_organizations(
    drift_page: Show, owner: Owner, monkeypatch: pytest.MonkeyPatch, who: Principal | None
) -> None:
    if who is not None:
        monkeypatch.setattr("controls.access.local_principal", lambda _: who)
    record(owner, "org_b", "birch.pdf")
    test = drift_page(org="org_a")
    assert files(test) is None
    assert "No report of this organization is on record yet." in texts(test)
    record(owner, "org_a", "acme.pdf")
    press(test, "Refresh")
    found = files(test)
    assert found is not None
    assert found[["actor", "format", "file_name", "rows", "sha256"]].to_numpy().tolist() == [
        ["omar", "PDF", "acme.pdf", 3, "5" * 64]
    ]
    assert "Keep the SHA-256 of a file that you send" in texts(test)


def test_a_store_that_keeps_no_record_says_so_and_shows_the_rest(drift_page: Show, owner: Owner) -> None:
    owner.execute("drop table rankscope.exports")
    test = drift_page(org="org_a")
    assert files(test) is None
    assert "Files taken could not be read" in texts(test)
    assert test.metric


def test_a_store_without_our_schema_shows_its_reports(drift_page: Show, owner: Owner) -> None:
    owner.execute("drop schema rankscope cascade")
    test = drift_page(org="org_a")
    assert "Files taken could not be read" in texts(test)
    assert [heading.value for heading in test.subheader if heading.value == "Reports"]
