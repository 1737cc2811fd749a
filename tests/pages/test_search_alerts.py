"""Alerts in the search of the shell: found by their words, opened, bounded, and unseen where they may not be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controls.access import Principal
from tests.drift_store import PORTS, RETRIES, add_pair
from tests.jobs.aggregated import passed
from tests.pages.application import application
from tests.pages.found import CHOSEN, add_two, rows, texts

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]


@pytest.fixture
def address(cluster: Cluster, store_database: str, owner: Owner) -> str:
    add_two(owner)
    return cluster.plain_url("dash_read", store_database)


def test_an_alert_is_found_by_its_words_and_opens_on_drift_alerts(address: str, store: Store, owner: Owner) -> None:
    for org in ("org_a", "org_b"):
        add_pair(owner, org, "ports", PORTS)
        add_pair(owner, org, "retries", RETRIES)
        passed(store, org)
    with application(address, search="dispatch API") as test:
        assert [kind for kind, _ in rows(test.run())] == ["alert", "alert"]
        (table,) = [each.value for each in test.dataframe if "kind" in each.value.columns]
        assert table["name"].tolist() == [f"{PORTS[0]} · 8080 ↔ 9090"] * 2
        assert sorted(table["organization"]) == ["Acme", "Birch"]
        assert "Alerts: the most severe first." in texts(test)
        assert "Observations and retrievals: those" not in texts(test)
        assert "words of alerts: among the most severe of each, 2,000 in all" in texts(test)
    with application(address, search="9090", org="org_b") as test:
        ((kind, id_),) = rows(test.run())
        assert kind == "alert"
        assert "words of alerts: among its 2,000 most severe" in texts(test)
        assert f"1 result: {CHOSEN} in everything you may see." in texts(test)
        test.button("search_open_one").click().run()
        assert not test.exception
        assert test.query_params["alert"] in (id_, [id_])
        assert test.query_params["org"] in ("org_b", ["org_b"])


def test_an_alert_of_another_project_than_the_chosen_one_opens(address: str, store: Store, owner: Owner) -> None:
    owner.execute("insert into projects (org_id, id, name) values ('org_a', 'web', 'Web')")
    add_pair(owner, "org_a", "ports", PORTS)
    passed(store, "org_a")
    with application(address, search="dispatch API", org="org_a", project="web") as test:
        assert [kind for kind, _ in rows(test.run())] == ["alert"]
        test.button("search_open_one").click().run()
        assert not test.exception
        assert "project" not in test.query_params
        assert "No such alert" not in texts(test)


def test_of_more_than_ten_alerts_the_first_ten_are_listed(address: str, store: Store, owner: Owner) -> None:
    for number in range(11):
        port = f"The api of depot{chr(97 + number)}x listens on port"
        add_pair(owner, "org_a", f"pair-{number}", (f"{port} 8080.", f"{port} 9090."))
    passed(store, "org_a")
    with application(address, search="listens on port") as test:
        assert [kind for kind, _ in rows(test.run())] == ["alert"] * 10
        assert "you may see: the first 10 alerts. More match" in texts(test)


def test_an_alert_of_who_may_not_be_seen_is_none(
    address: str, store: Store, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_pair(owner, "org_b", "ports", PORTS)
    passed(store, "org_b")
    vera = Principal("vera", "viewer", frozenset({"org_a"}), "proxy")
    monkeypatch.setattr("controls.access.local_principal", lambda _: vera)
    with application(address, search="dispatch API") as test:
        assert rows(test.run()) == []


def test_a_store_without_alerts_finds_the_rest(address: str, owner: Owner) -> None:
    owner.execute("drop schema rankscope cascade")
    with application(address, search="acme") as test:
        assert rows(test.run()) == [("organization", "org_a")]
        assert "Alerts could not be read" in texts(test)
        assert "words of alerts" not in texts(test)
        assert "1 result: titles and queries among the newest of each organization, names" in texts(test)
    with application(address, search="nothing of that name") as test:
        assert "Nothing that you may see has this id or name" in texts(test.run())
        assert "most severe" not in texts(test)
