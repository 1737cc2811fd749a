"""The server's own figures, and how far the pools of a process were used."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from queries.engine import Store, make_engine
from queries.errors import StoreError
from queries.health.server import ServerStatus, pool_use
from queries.scope import EVERYTHING
from tests.queries.health.test_stored_and_logged import SCOPES

if TYPE_CHECKING:
    from tests.conftest import Cluster


def test_the_server_says_how_full_it_is(store: Store) -> None:
    found = store.ask(ServerStatus(SCOPES["all"])).iloc[0]
    assert 1 <= found["connections"] <= found["most_connections"]
    assert (found["login"], bool(found["standby"])) == ("dash_read", False)


def test_a_pool_remembers_the_most_that_were_in_use_at_once(cluster: Cluster, store_database: str) -> None:
    """Two of its own and one beyond: three at once, then one, then none."""
    store = Store(make_engine(cluster.url("dash_read", store_database), name="peak", pool=2, overflow=1))
    before = pool_use(store.reader)
    assert before is not None
    assert (before.now, before.most, before.most_at, before.room) == (0, 0, None, 3)
    with ExitStack() as held:
        for _ in range(3):
            held.enter_context(store.reading(EVERYTHING))
        crowded = pool_use(store.reader)
        assert crowded is not None
        assert (crowded.now, crowded.most) == (3, 3)
    with store.reading(EVERYTHING):
        later = pool_use(store.reader)
    assert later is not None
    assert (later.now, later.most, later.room) == (1, 3, 3)
    assert later.most_at is not None
    assert timedelta() <= datetime.now(UTC) - later.most_at < timedelta(minutes=1)
    store.close()


def test_a_full_pool_is_no_fuller(cluster: Cluster, store_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("queries.engine.POOL_WAIT", 0.1)
    store = Store(make_engine(cluster.url("dash_read", store_database), name="full", pool=1, overflow=0))
    with store.reading(EVERYTHING), pytest.raises(StoreError) as refused, store.reading(EVERYTHING):
        pass
    assert refused.value.kind == "busy"
    found = pool_use(store.reader)
    assert found is not None
    assert (found.now, found.most, found.room) == (0, 1, 1)
    store.close()


def test_a_login_that_is_not_configured_has_no_pool(store: Store) -> None:
    assert pool_use(Store(store.reader).writer) is None
