from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from queries.engine import Store, make_engine
from queries.scope import Reach, Scope
from tests.conftest import NOW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cluster


@pytest.fixture(scope="session")
def demo_address(cluster: Cluster, demo_database: str) -> str:
    """The owner's address of it."""
    return cluster.plain_url("postgres", demo_database)


@pytest.fixture(scope="session")
def demo(cluster: Cluster, demo_database: str) -> Iterator[Store]:
    """The same store as a page reads it."""
    opened = Store(make_engine(cluster.url("dash_read", demo_database), name="test"))
    yield opened
    opened.close()


def scope_of(org: str, days: int = 100) -> Scope:
    """One organization's last days before the demo's now."""
    return Scope(Reach((org,)), NOW - timedelta(days=days), NOW, org)
