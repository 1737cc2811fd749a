"""Saved views in the shell: kept, opened, shared and refused."""

from __future__ import annotations

import os
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import pytest

from controls import access
from controls.access import Principal
from tests import sample
from tests.pages.application import application

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

VIEWS = "select principal, name, page, query, archived_at is null from rankscope.saved_views order by created_at"


@pytest.fixture
def address(cluster: Cluster, store_database: str, owner: Owner) -> str:
    for org, name in (("org_a", "Acme"), ("org_b", "Birch")):
        sample.add_organization(owner, org, name)
        sample.add_retrieval(owner, org, sample.unchanged(4), name="one")
    return cluster.plain_url("dash_read", store_database)


@contextmanager
def writing(cluster: Cluster, store_database: str, address: str, **said: str) -> Iterator[AppTest]:
    """The application with its write login, its saved views opened."""
    os.environ["RANKSCOPE_WRITE_URL"] = cluster.plain_url("dash_write", store_database)
    try:
        with application(address, **said) as test:
            test.session_state["views"] = True
            yield test.run()
    finally:
        del os.environ["RANKSCOPE_WRITE_URL"]


def texts(test: AppTest) -> str:
    sinks = [*test.caption, *test.info, *test.warning, *test.error, *test.markdown, *test.text]
    return " ".join(each.value for each in sinks)


class TestSavedViews:
    def test_saved_opened_renamed_and_removed(
        self, cluster: Cluster, store_database: str, address: str, owner: Owner
    ) -> None:
        with writing(cluster, store_database, address, org="org_a", window="7d", search="acme") as test:
            assert not test.exception
            test.text_input("view_name").set_value("Acme this week")
            test.button("view_save").click().run()
            assert "Saved." in texts(test)
            who, *saved = owner.execute(VIEWS).fetchone()  # type: ignore[misc]
            assert who.startswith("local:")
            assert saved == ["Acme this week", "overview.py", "org=org_a&window=7d", True]
            assert any("/?org=org_a&window=7d" in code.value for code in test.code)
            saved_on = owner.execute("select created_at at time zone 'utc' from rankscope.saved_views").fetchone()
            assert f"Link of the view above, saved on {saved_on[0]:%-d %b %Y}." in texts(test)  # type: ignore[index]
            order = [each.key for each in test.sidebar.button if (each.key or "").startswith("view_")]
            assert order == ["view_save", "view_open", "view_rename", "view_remove"]  # what is chosen stands together
            test.text_input("view_name").set_value("Acme this week")
            test.button("view_save").click().run()
            assert "You have a view of this name" in texts(test)
            test.text_input("view_renamed").set_value("Acme")
            test.button("view_rename").click().run()
            assert "Renamed." in texts(test)
            test.button("view_remove").click().run()
            assert "Removed." in texts(test)
            assert "You have saved no view yet" in texts(test)
        assert [row[1:] for row in owner.execute(VIEWS)] == [("Acme", "overview.py", "org=org_a&window=7d", False)]

    def test_a_window_that_moves_on_is_said_to_and_its_dates_can_be_kept(
        self, cluster: Cluster, store_database: str, address: str, owner: Owner
    ) -> None:
        today = datetime.now(UTC).date()
        for window, days in (("7d", 7), (None, 30)):
            said = {} if window is None else {"window": window}
            with writing(cluster, store_database, address, org="org_a", **said) as test:
                assert f"Keeps a window of the last {days} days, counted from the day it is opened." in texts(test)
                test.text_input("view_name").set_value(f"rolling {days}")
                test.button("view_save").click().run()
                test.checkbox("view_dates").check()
                test.text_input("view_name").set_value(f"kept {days}")
                test.button("view_save").click().run()
                assert "Saved." in texts(test)
            (_, _, _, rolling, _), (_, _, _, kept, _) = owner.execute(VIEWS).fetchall()[-2:]
            first = today - timedelta(days=days - 1)
            assert rolling == "org=org_a" + ("" if window is None else f"&window={window}")
            assert kept == f"org=org_a&window=custom&from={first}&to={today}"
            with writing(cluster, store_database, address, **dict(parse_qsl(kept))) as test:
                assert not test.exception
                assert f", {first.day} {first:%b} to {today.day} {today:%b %Y} (UTC)." in texts(test)
                assert "counted from the day it is opened" not in texts(test)
                assert not [box for box in test.checkbox if box.key == "view_dates"]

    def test_a_page_without_a_window_speaks_of_none(self, cluster: Cluster, store_database: str, address: str) -> None:
        with writing(cluster, store_database, address, org="org_a", window="7d") as test:
            test.switch_page("observation.py").run()
            assert [button for button in test.button if button.key == "view_save"]
            assert "counted from the day it is opened" not in texts(test)

    def test_the_view_just_saved_is_the_one_whose_link_is_shown(
        self, cluster: Cluster, store_database: str, address: str
    ) -> None:
        with writing(cluster, store_database, address, org="org_a") as test:
            for name, org in (("a first", "org_a"), ("b second", "org_b")):
                test.query_params["org"] = org
                test.run()
                test.text_input("view_name").set_value(name)
                test.button("view_save").click().run()
                assert any(f"/?org={org}" in code.value for code in test.code)
                assert test.text_input("view_name").value == ""

    def test_a_view_opens_its_page_with_all_that_its_address_said(
        self, cluster: Cluster, store_database: str, address: str, owner: Owner
    ) -> None:
        with writing(cluster, store_database, address) as test:
            who = next(line.value for line in test.text if "local:" in line.value).split(",")[0]
            owner.execute(
                """insert into rankscope.saved_views (principal, name, page, query)
                   values (%s, 'runs', 'health.py', 'org=org_b&part=runs')""",
                (who,),
            )
            test.run()
            test.button("view_open").click().run()
            assert not test.exception
            assert [title.value for title in test.title] == ["Health"]
            assert "Aggregation passes" in texts(test)
            assert "Birch" in texts(test)

    def test_a_view_of_the_page_that_is_shown_opens_too(
        self, cluster: Cluster, store_database: str, address: str, owner: Owner
    ) -> None:
        with writing(cluster, store_database, address, org="org_a", window="7d") as test:
            who = next(line.value for line in test.text if "local:" in line.value).split(",")[0]
            owner.execute(
                """insert into rankscope.saved_views (principal, name, page, query)
                   values (%s, 'days', 'overview.py', 'org=org_b&window=custom&from=2026-01-05&to=2026-01-11')""",
                (who,),
            )
            test.run()
            test.button("view_open").click().run()
            assert not test.exception
            assert "Birch, 5 Jan to 11 Jan 2026 (UTC)." in texts(test)

    def test_a_viewer_saves_too_and_a_page_that_is_gone_is_told(
        self, cluster: Cluster, store_database: str, address: str, owner: Owner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        vera = Principal("vera", "viewer", frozenset({"org_a"}), "proxy")
        monkeypatch.setattr("controls.access.local_principal", lambda _: vera)
        with writing(cluster, store_database, address) as test:
            test.text_input("view_name").set_value("mine")
            test.button("view_save").click().run()
            assert "Saved." in texts(test)
            owner.execute("update rankscope.saved_views set page = 'gone.py'")
            test.run()
            test.button("view_open").click().run()
            assert "The page of this view no longer exists." in texts(test)
            owner.execute("update rankscope.saved_views set page = 'health.py', query = 'org=org_b'")
            test.run()
            test.button("view_open").click().run()
            assert "Unknown organization in this link" in texts(test)
            assert "Birch" not in texts(test)
        assert [row[0] for row in owner.execute(VIEWS)] == ["vera"]

    @pytest.mark.parametrize("name", ["", " ", "a\0b"], ids=["none", "blank", "nul"])
    def test_a_name_that_cannot_be_kept_is_told(
        self, cluster: Cluster, store_database: str, address: str, owner: Owner, name: str
    ) -> None:
        with writing(cluster, store_database, address) as test:
            test.text_input("view_name").set_value(name)
            test.button("view_save").click().run()
            assert "1 to 80 characters" in texts(test)
        assert owner.execute(VIEWS).fetchall() == []

    def test_a_role_taken_away_ends_with_the_next_write(
        self, cluster: Cluster, store_database: str, address: str, owner: Owner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """WEB-5: the click is refused by the write itself, which runs before the page does."""
        omar = Principal("omar", "viewer", frozenset({"org_a"}), "proxy")
        asked: list[str] = []

        def granted(name: str) -> tuple[str, tuple[str, ...]] | None:
            asked.append(name)
            return None

        monkeypatch.setattr("controls.access.local_principal", lambda _: omar)
        with writing(cluster, store_database, address) as test:
            test.text_input("view_name").set_value("mine")
            monkeypatch.setattr(access, "stored_role", granted)
            monkeypatch.setattr("controls.access.local_principal", lambda _: access._granted("omar", "proxy"))
            test.button("view_save").click().run()
            assert "no role has been granted" in texts(test)
        assert asked
        assert owner.execute(VIEWS).fetchall() == []

    def test_a_store_that_is_only_read_opens_views_and_says_why_none_is_saved(self, address: str) -> None:
        with application(address) as test:
            test.session_state["views"] = True
            test.run()
            assert "no login that may write" in texts(test)
            assert not [button for button in test.button if button.key == "view_save"]

    def test_more_views_than_are_listed_are_told(
        self, cluster: Cluster, store_database: str, address: str, owner: Owner
    ) -> None:
        with writing(cluster, store_database, address) as test:
            who = next(line.value for line in test.text if "local:" in line.value).split(",")[0]
            for count, told in ((200, False), (1, True)):
                owner.execute(
                    """insert into rankscope.saved_views (principal, name, page, query)
                       select %s, %s || to_char(n, '000'), 'health.py', '' from generate_series(1, %s) n""",
                    (who, f"view {count}", count),
                )
                test.run()
                assert ("The first 200 of your views, by name." in texts(test)) == told
                assert len(test.selectbox("view_picked").options) == 200

    def test_a_store_without_our_schema_says_so_and_shows_its_pages(self, address: str, owner: Owner) -> None:
        owner.execute("drop table rankscope.saved_views")
        with application(address) as test:
            test.session_state["views"] = True
            test.run()
            assert not test.exception
            assert "Saved views could not be read" in texts(test)
            assert test.metric
