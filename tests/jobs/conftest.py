from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from jobs.demo.load import fill
from queries.owner import owning
from tests.jobs.stores import FOREIGN, run

if TYPE_CHECKING:
    from tests.conftest import Cluster

NOW = datetime(2026, 3, 29, 12, tzinfo=UTC)


@pytest.fixture
def foreign(cluster: Cluster, empty_database: str) -> str:
    """The owner's address of a store that is not ours."""
    address = cluster.url("postgres", empty_database)
    run(address, FOREIGN.read_text(encoding="utf-8"))
    return address


@pytest.fixture
def owned(cluster: Cluster, store_database: str) -> str:
    """The owner's address of a store of ours, without data."""
    return cluster.url("postgres", store_database)


@pytest.fixture
def readable(cluster: Cluster, store_database: str) -> str:
    """The read login's address of the same store."""
    return cluster.url("dash_read", store_database)


@pytest.fixture
def filled(owned: str) -> str:
    """The owner's address of a store with the demo in it."""
    assert filled_now(owned) is not None
    return owned


def filled_now(address: str) -> dict[str, int] | None:
    with owning(address) as engine, engine.begin() as connection:
        return fill(connection, NOW)
