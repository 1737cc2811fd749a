"""Saved views and the search in the shell: kept, opened, refused; found, and silent about what one may not see."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid5

import pytest

from controls import access
from controls.access import Principal
from tests import sample
from tests.hostile import TEXTS
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


class TestSearch:
    def rows(self, test: AppTest) -> list[tuple[str, str]]:
        assert not test.exception
        tables = [each.value for each in test.dataframe if "kind" in each.value.columns]
        return [tuple(row) for row in tables[0][["kind", "id"]].to_numpy()] if tables else []

    def test_found_by_name_and_by_id(self, address: str) -> None:
        with application(address, search="birch") as test:
            assert self.rows(test.run()) == [("organization", "org_b")]
        id_ = str(uuid5(sample.NAMESPACE, "org_a/one"))
        with application(address, search=id_) as test:
            assert self.rows(test.run()) == [("retrieval", id_)]

    def test_typing_puts_it_into_the_address_and_closing_takes_it_out(self, address: str) -> None:
        with application(address) as test:
            test.run()
            test.text_input("search_box").set_value(" acme ").run()
            assert self.rows(test) == [("organization", "org_a")]
            assert test.query_params["search"] in ("acme", ["acme"])
            test.button("search_close").click().run()
            assert self.rows(test) == []

    def test_an_observation_is_found_by_a_part_of_its_title(self, address: str, owner: Owner) -> None:
        ids = sample.add_observations(owner, "org_a", 2)
        owner.execute("update observations set title = 'Where the lanterns are kept' where id = %s", (ids[0],))
        with application(address, search="the lanterns") as test:
            assert self.rows(test.run()) == [("observation", str(ids[0]))]
            assert "among the newest of each organization, 10,000 in all" in texts(test)
        with application(address, search="the lanterns", org="org_a") as test:
            assert self.rows(test.run()) == [("observation", str(ids[0]))]
            assert "among the newest 10,000 of the organization in the sidebar" in texts(test)
        with application(address, search="the lanterns", org="org_b") as test:
            assert self.rows(test.run()) == []
        with application(address, search=str(ids[0])) as test:
            assert self.rows(test.run()) == [("observation", str(ids[0]))]
            assert "Titles of observations" not in texts(test)

    def test_a_store_without_titles_says_so_and_finds_the_rest(self, address: str, owner: Owner) -> None:
        owner.execute("alter table observations drop column title")
        with application(address, search="acme") as test:
            assert self.rows(test.run()) == [("organization", "org_a")]
            assert "Observations could not be read" in texts(test)

    def test_each_of_several_is_opened_without_a_mouse(self, address: str) -> None:
        with application(address, search="-project") as test:
            assert self.rows(test.run()) == [("project", "api"), ("project", "api")]
            picked = test.selectbox("search_picked")
            assert picked.options == ["project: CANARY-org_a-project (Acme)", "project: CANARY-org_b-project (Birch)"]
            picked.select_index(1).run()
            test.button("search_open_one").click().run()
            assert not test.exception
            assert test.query_params["org"] in ("org_b", ["org_b"])
            assert test.query_params["project"] in ("api", ["api"])

    @pytest.mark.parametrize("words", ["a\0b", "x" * 201], ids=["nul", "long"])
    def test_what_cannot_be_looked_for_is_told(self, address: str, words: str) -> None:
        with application(address, search=words) as test:
            assert self.rows(test.run()) == []
            assert "This cannot be looked for: an id or name has 200 characters at most" in texts(test)

    def test_what_cannot_be_stored_is_told_when_it_is_typed(self, address: str) -> None:
        with application(address) as test:
            test.run()
            test.text_input("search_box").set_value("a\0b").run()
            assert "This cannot be looked for" in texts(test)
            test.text_input("search_box").set_value("acme").run()
            assert "This cannot be looked for" not in texts(test)
            assert self.rows(test) == [("organization", "org_a")]

    def test_foreign_looks_like_unknown(self, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
        vera = Principal("vera", "viewer", frozenset({"org_a"}), "proxy")
        monkeypatch.setattr("controls.access.local_principal", lambda _: vera)
        told = []
        for words in ("birch", "org_b", "nothing of this name"):
            with application(address, search=words) as test:
                assert self.rows(test.run()) == []
                told.append([alert.value for alert in test.info])
        assert told[0] == told[1] == told[2]
        assert "Nothing that you may see" in told[0][0]

    def test_where_nothing_is_called_so_the_words_are_looked_for_in_memories(self, address: str) -> None:
        with application(address, org="org_a", search="no such name") as test:
            (way,) = [link for link in test.run().get("page_link") if "inside memories" in link.proto.label]
        assert way.proto.query_string == "org=org_a&words=no+such+name"

    def test_a_store_without_alerts_finds_the_rest(self, address: str, owner: Owner) -> None:
        owner.execute("drop schema rankscope cascade")
        with application(address, search="acme") as test:
            assert self.rows(test.run()) == [("organization", "org_a")]

    def test_whatever_is_typed_or_stored_is_shown_as_it_is(self, address: str, owner: Owner) -> None:
        sample.add_organization(owner, "org_h", TEXTS[0])
        for words in (TEXTS[0], "![x](http://127.0.0.1:9/beacon)", "a\0b", "x" * 300):
            with application(address, search=words) as test:
                test.run()
                assert not test.exception
                assert "beacon" not in texts(test)
                assert "<script" not in texts(test)
