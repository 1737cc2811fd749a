"""The Observation page before any is named: what to start from, and what it says where there is nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests import sample
from tests.pages.observation_page import opening

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster
    from tests.pages.observation_page import Opened

    Owner = psycopg.Connection[Any]


@pytest.fixture
def opened(cluster: Cluster, store_database: str) -> Iterator[Opened]:
    """Open the page at an address."""
    with opening(cluster.plain_url("dash_read", store_database)) as open_:
        yield open_


@pytest.fixture
def ids(owner: Owner) -> list[str]:
    """Twelve of Acme, the third retrieved twice and the first once; one of Birch that is retrieved most of all."""
    sample.add_organization(owner, "org_a", "Acme")
    sample.add_organization(owner, "org_b", "Birch")
    sample.add_organization(owner, "org_c", "Cedar")
    found = sample.add_observations(owner, "org_a", 12, days_ago=3)
    (other,) = sample.add_observations(owner, "org_b", 1, days_ago=2)
    for name, given in (("one", [found[2], found[0]]), ("two", [found[2]])):
        sample.add_retrieval(owner, "org_a", sample.unchanged(len(given)), name=name, observations=given)
    for name in "abc":
        sample.add_retrieval(owner, "org_b", sample.unchanged(1), name=name, observations=[other])
    return [str(each) for each in (*found, other)]


def tables(test: AppTest) -> list[list[str]]:
    return [list(frame.value["id"]) for frame in test.dataframe]


def test_the_most_retrieved_and_the_newest_of_all_organizations(opened: Opened, ids: list[str]) -> None:
    test = opened()
    most, newest = tables(test)
    assert most == [ids[-1], ids[2], ids[0]]
    assert test.dataframe[0].value["retrieved"].tolist() == [3, 2, 1]
    assert test.dataframe[0].value["organization"].tolist() == ["Birch", "Acme", "Acme"]
    assert newest == [ids[-1], *sorted(ids[:-1])[:9]]
    assert [line.value for line in test.subheader] == ["Most retrieved", "Newest"]
    offered = [test.selectbox(f"choose_{name}").label for name in ("most", "newest")]
    assert offered == ["Open one of the most retrieved", "Open one of the newest"]


def test_a_scope_limits_both_and_its_window_the_first(opened: Opened, ids: list[str]) -> None:
    test = opened(org="org_a", window="7d")
    assert tables(test) == [[ids[2], ids[0]], sorted(ids[:-1])[:10]]
    assert "organization" not in test.dataframe[0].value
    assert any(line.value.startswith("In Acme, ") for line in test.text)
    test = opened(org="org_a", window="custom", **{"from": "2020-01-01", "to": "2020-01-02"})
    assert tables(test) == [sorted(ids[:-1])[:10]]
    assert [line.value for line in test.info] == ["Nothing that is stored here was retrieved in this window."]


@pytest.mark.parametrize("which", ["most", "newest"])
def test_a_list_by_keyboard_opens_a_row(opened: Opened, ids: list[str], which: str) -> None:
    test = opened(org="org_a")
    test.selectbox(f"choose_{which}").select(ids[2] if which == "most" else min(ids[:-1])).run()
    assert not test.exception
    said = test.query_params["observation"]
    assert said in (ids[2], [ids[2]]) if which == "most" else said in (min(ids[:-1]), [min(ids[:-1])])
    assert test.code[0].value == sample.canary("org_a", "content")


def test_where_nothing_is_stored_it_is_said_once(opened: Opened, owner: Owner, ids: list[str]) -> None:
    test = opened(org="org_c")
    assert ids
    assert not test.dataframe
    assert [line.value.split(":")[0] for line in test.info] == ["Nothing was ever stored here"]
    owner.execute("update observations set status = 'archived' where org_id = 'org_b'")
    test = opened(org="org_b")
    assert not test.dataframe
    assert [line.value.split(".")[0] for line in test.info] == ["No active observation is stored in this scope"]


def test_words_and_an_unknown_id_have_their_own_answer(opened: Opened, ids: list[str]) -> None:
    assert len(tables(opened(org="org_a", words="canary content"))) <= 1
    test = opened(observation="nothing")
    assert test.warning
    assert tables(test)[0][0] == ids[-1]


def test_a_log_that_is_drawn_from_has_no_counts(opened: Opened, owner: Owner, ids: list[str]) -> None:
    owner.execute("alter table retrieval_ab_logs alter column retrieval_id set not null")
    owner.execute("update pg_class set reltuples = 1200000 where oid = 'retrieval_ab_logs'::regclass")
    test = opened()
    assert tables(test)[0]
    assert set(tables(test)[0]) <= set(ids)
    assert "retrieved" not in test.dataframe[0].value
    assert any(line.value.endswith("(UTC), of the part of the log that was drawn.") for line in test.text)
    # of so long a log hardly a page is drawn, and none of these few rows: not drawn is not none
    owner.execute("update pg_class set reltuples = 3e9 where oid = 'retrieval_ab_logs'::regclass")
    test = opened()
    assert len(tables(test)) == 1
    assert not test.info
    assert any(line.value.startswith("No retrieval of the window was drawn.") for line in test.caption)
