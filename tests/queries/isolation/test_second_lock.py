"""A statement about one organization names it: without row security, too, nothing of another is found."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from queries.drift.opposing import SetPairs, digest
from queries.drift.triaging import SetTriage
from queries.engine import Store, make_engine
from queries.flags.history import FlagHistory
from queries.found_alerts import AlertsOf, ToldAlerts
from queries.once import make
from queries.scope import Reach, Scope
from tests import sample
from tests.drift_store import PORTS, add_pair
from tests.jobs.aggregated import passed
from tests.queries.flags.flag_store import set_flag

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from tests.conftest import Cluster

BOTH = Reach(("org_a", "org_b"))


@pytest.fixture
def unbound(cluster: Cluster, store_database: str, owner: psycopg.Connection[Any]) -> Iterator[Store]:
    """The store as its owner sees it, whom no policy binds, with two organizations."""
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
    url = cluster.url(database=store_database)
    opened = Store(make_engine(url, name="test"), make_engine(url, name="test write"))
    yield opened
    opened.close()


CHANGES = (
    set_flag("absent", "on"),
    SetTriage(
        "org_a", "f1", 0, "acknowledged", uuid4(), "omar", str(uuid4()), str(uuid4()), "value", found_up_to=0.8,
        threshold=0.5,
    ),
    SetPairs("org_a", digest(()), (("on", "off"),), (), (), uuid4(), "omar"),
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_what_a_request_made_is_looked_for_in_its_organization(unbound: Store, change: Any) -> None:  # noqa: ANN401 - three kinds
    assert make(unbound, BOTH, change).kind == "applied"
    with unbound.reading(BOTH) as connection:
        assert change.made(connection) is not None
        assert replace(change, org_id="org_b").made(connection) is None


def test_where_a_page_of_the_history_ended_is_looked_for_in_reach(
    unbound: Store, owner: psycopg.Connection[Any]
) -> None:
    assert make(unbound, BOTH, set_flag("absent", "on")).kind == "applied"
    assert make(unbound, BOTH, set_flag("absent", "on", org="org_b")).kind == "applied"
    last = owner.execute("select max(id) from rankscope.flag_changes where org_id = 'org_b'").fetchone()
    assert last
    until = datetime.now(UTC) + timedelta(days=1)
    for reach, entries in ((BOTH, 1), (Reach(("org_a",)), 0)):
        scope = Scope(reach, until - timedelta(days=2), until, "org_a")
        assert len(unbound.ask(FlagHistory(scope, before=last[0]))) == entries


def test_an_alert_is_looked_for_in_reach(unbound: Store, owner: psycopg.Connection[Any]) -> None:
    for org in ("org_a", "org_b"):
        add_pair(owner, org, "ports", PORTS)
        passed(unbound, org)
    until = datetime.now(UTC) + timedelta(days=1)
    every = unbound.ask(ToldAlerts(Scope(BOTH, until - timedelta(days=2), until), "dispatch"))
    assert sorted(every["org_id"]) == ["org_a", "org_b"]
    scope = Scope(Reach(("org_a",)), until - timedelta(days=2), until)
    assert unbound.ask(ToldAlerts(scope, "dispatch"))["org_id"].tolist() == ["org_a"]
    for org, id_ in every[["org_id", "id"]].to_numpy():
        assert len(unbound.ask(AlertsOf(scope, id_))) == (org == "org_a")
