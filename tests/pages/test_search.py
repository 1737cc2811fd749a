"""The search in the shell: what is found, how it is counted, and silence about what one may not see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid5

import pytest

from controls.access import Principal
from tests import sample
from tests.hostile import TEXTS
from tests.pages.application import application
from tests.pages.found import CHOSEN, EACH, add_two, rows, texts

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]


@pytest.fixture
def address(cluster: Cluster, store_database: str, owner: Owner) -> str:
    add_two(owner)
    return cluster.plain_url("dash_read", store_database)


def test_found_by_name_and_by_id(address: str) -> None:
    with application(address, search="birch") as test:
        assert rows(test.run()) == [("organization", "org_b")]
    id_ = str(uuid5(sample.NAMESPACE, "org_a/one"))
    with application(address, search=id_) as test:
        assert rows(test.run()) == [("retrieval", id_)]


def test_typing_puts_it_into_the_address_and_closing_takes_it_out(address: str) -> None:
    with application(address) as test:
        test.run()
        test.text_input("search_box").set_value(" acme ").run()
        assert rows(test) == [("organization", "org_a")]
        assert test.query_params["search"] in ("acme", ["acme"])
        test.button("search_close").click().run()
        assert rows(test) == []


def ways(test: AppTest) -> list[str]:
    return [button.label for button in test.button if button.key == "search_all"]


def test_a_search_in_one_organization_says_so_and_offers_all(address: str, owner: Owner) -> None:
    (id_,) = sample.add_observations(owner, "org_a", 1)
    owner.execute("update observations set title = 'Where the lanterns are kept' where id = %s", (id_,))
    with application(address, search="the lanterns", org="org_b") as test:
        assert rows(test.run()) == []
        (told,) = [alert.value for alert in test.info if "lanterns" in alert.value or "Nothing" in alert.value]
        limit = "Not among the newest titles and queries of the chosen organization, nor among its most severe alerts."
        assert told.startswith(f"{limit} Nothing that you may see has this id or name: ")
        assert ways(test) == ["Search all organizations"]
        test.button("search_all").click().run()
        assert rows(test) == [("observation", str(id_))]
        assert "org" not in test.query_params
        assert f"1 result: {EACH} in everything you may see." in texts(test)
        assert ways(test) == []
    with application(address, search="the lanterns", org="org_a") as test:
        assert rows(test.run()) == [("observation", str(id_))]
        assert f"1 result: {CHOSEN} in everything you may see." in texts(test)
        assert ways(test) == ["Search all organizations"]


def test_an_id_is_looked_for_everywhere_whatever_is_chosen(address: str) -> None:
    id_ = str(uuid5(sample.NAMESPACE, "org_a/one"))
    with application(address, search=id_, org="org_b") as test:
        assert rows(test.run()) == [("retrieval", id_)]
        assert "1 result in everything you may see." in texts(test)
        assert ways(test) == []


def test_who_may_see_one_organization_is_offered_no_others(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    vera = Principal("vera", "viewer", frozenset({"org_a"}), "proxy")
    monkeypatch.setattr("controls.access.local_principal", lambda _: vera)
    with application(address, search="no such name", org="org_a") as test:
        assert ways(test.run()) == []


def test_of_what_is_found_by_its_id_no_order_by_words_is_told(address: str, owner: Owner) -> None:
    """Two organizations have an observation of one id; the older of them stands first, as its organization does."""
    ids = [sample.add_observations(owner, org, 1, days_ago=ago)[0] for org, ago in (("org_a", 3), ("org_b", 1))]
    owner.execute("update observations set id = %s where id = %s", ids)
    with application(address, search=str(ids[0])) as test:
        assert rows(test.run()) == [("observation", str(ids[0]))] * 2
        assert "begin with the words" not in texts(test)


def test_what_reads_the_same_is_told_apart_by_when_and_where_it_was_written(address: str, owner: Owner) -> None:
    ids = sample.add_observations(owner, "org_a", 2)
    for id_, moment in zip(ids, ("2026-03-01 09:30+00", "2026-03-02 10:45+00"), strict=True):
        owner.execute(
            "update observations set title = 'The same lanterns', created_at = %s where id = %s", (moment, id_)
        )
    with application(address, search="same lanterns") as test:
        assert [id_ for _, id_ in rows(test.run())] == [str(ids[1]), str(ids[0])]
        (table,) = [each.value for each in test.dataframe if "kind" in each.value.columns]
        assert [f"{at:%Y-%m-%d %H:%M}" for at in table["at"]] == ["2026-03-02 10:45", "2026-03-01 09:30"]
        assert table.columns.tolist() == ["open", "kind", "name", "organization", "at", "project", "id"]
        assert table["project"].tolist() == ["api", "api"]
        assert "those that begin with the words first, then the newest." in texts(test)
        assert test.selectbox("search_picked").options == [
            "observation of 2 Mar 2026 10:45: The same lanterns (Acme, api)",
            "observation of 1 Mar 2026 09:30: The same lanterns (Acme, api)",
        ]


def test_an_observation_is_found_by_a_part_of_its_title(address: str, owner: Owner) -> None:
    ids = sample.add_observations(owner, "org_a", 2)
    owner.execute("update observations set title = 'Where the lanterns are kept' where id = %s", (ids[0],))
    with application(address, search="the lanterns") as test:
        assert rows(test.run()) == [("observation", str(ids[0]))]
        assert "among the newest of each organization, 10,000 in all" in texts(test)
    with application(address, search="the lanterns", org="org_a") as test:
        assert rows(test.run()) == [("observation", str(ids[0]))]
        assert "among the newest 10,000 of the organization in the sidebar" in texts(test)
    with application(address, search="the lanterns", org="org_b") as test:
        assert rows(test.run()) == []
    with application(address, search=str(ids[0])) as test:
        assert rows(test.run()) == [("observation", str(ids[0]))]
        assert "Titles of observations" not in texts(test)


def test_a_retrieval_is_found_by_a_part_of_its_query(address: str) -> None:
    id_ = str(uuid5(sample.NAMESPACE, "org_b/one"))
    with application(address, search="canary-org_b-query") as test:
        assert rows(test.run()) == [("retrieval", id_)]
        assert "queries of retrievals: so too, among 50,000 log rows" in texts(test)


def test_a_kind_of_which_there_are_more_than_ten_is_not_counted(address: str, owner: Owner) -> None:
    for number in range(9):
        sample.add_organization(owner, f"o_{number}", f"Acme {number}")
    with application(address, search="acme") as test:
        assert len(rows(test.run())) == 10
        assert f"10 results: {EACH} in everything you may see." in texts(test)
    sample.add_organization(owner, "o_9", "Acme 9")
    owner.execute("update projects set name = 'Acme web' where org_id = 'org_b'")
    with application(address, search="acme") as test:
        assert [kind for kind, _ in rows(test.run())] == ["organization"] * 10 + ["project"]
        told = f"{EACH} in everything you may see: the first 10 organizations and 1 project. More match"
        assert f"T{told[1:]}" in texts(test)


def test_a_store_without_titles_says_so_and_finds_the_rest(address: str, owner: Owner) -> None:
    owner.execute("alter table observations drop column title")
    with application(address, search="acme") as test:
        assert rows(test.run()) == [("organization", "org_a")]
        assert "Observations could not be read" in texts(test)


def test_each_of_several_is_opened_without_a_mouse(address: str) -> None:
    with application(address, search="-project") as test:
        assert rows(test.run()) == [("project", "api"), ("project", "api")]
        picked = test.selectbox("search_picked")
        assert picked.options == ["project: CANARY-org_a-project (Acme)", "project: CANARY-org_b-project (Birch)"]
        picked.select_index(1).run()
        test.button("search_open_one").click().run()
        assert not test.exception
        assert test.query_params["org"] in ("org_b", ["org_b"])
        assert test.query_params["project"] in ("api", ["api"])


@pytest.mark.parametrize("words", ["a\0b", "x" * 201], ids=["nul", "long"])
def test_what_cannot_be_looked_for_is_told(address: str, words: str) -> None:
    with application(address, search=words) as test:
        assert rows(test.run()) == []
        assert "This cannot be looked for: an id or name has 200 characters at most" in texts(test)


def test_what_cannot_be_stored_is_told_when_it_is_typed(address: str) -> None:
    with application(address) as test:
        test.run()
        test.text_input("search_box").set_value("a\0b").run()
        assert "This cannot be looked for" in texts(test)
        test.text_input("search_box").set_value("acme").run()
        assert "This cannot be looked for" not in texts(test)
        assert rows(test) == [("organization", "org_a")]


def test_foreign_looks_like_unknown(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    vera = Principal("vera", "viewer", frozenset({"org_a"}), "proxy")
    monkeypatch.setattr("controls.access.local_principal", lambda _: vera)
    told = []
    for words in ("birch", "org_b", "nothing of this name"):
        with application(address, search=words) as test:
            assert rows(test.run()) == []
            told.append([alert.value for alert in test.info])
    assert told[0] == told[1] == told[2]
    assert "Nothing that you may see" in told[0][0]
    assert told[0][0].startswith("Not among the newest titles and queries of each organization, nor among its most")


@pytest.mark.parametrize("words", ["no such name", "acme"], ids=["nothing", "something"])
def test_whatever_was_found_the_words_can_be_looked_for_in_memories(address: str, words: str) -> None:
    with application(address, org="org_a", search=words) as test:
        (way,) = [link for link in test.run().get("page_link") if "inside memories" in link.proto.label]
    assert way.proto.query_string == f"org=org_a&words={words.replace(' ', '+')}"


def test_whatever_is_typed_or_stored_is_shown_as_it_is(address: str, owner: Owner) -> None:
    sample.add_organization(owner, "org_h", TEXTS[0])
    for words in (TEXTS[0], "![x](http://127.0.0.1:9/beacon)", "a\0b", "x" * 300):
        with application(address, search=words) as test:
            test.run()
            assert not test.exception
            assert "beacon" not in texts(test)
            assert "<script" not in texts(test)
