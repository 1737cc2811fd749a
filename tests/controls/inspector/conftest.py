from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.retrieval.planted import plant

if TYPE_CHECKING:
    import psycopg

    from tests.conftest import Cluster
    from tests.retrieval.planted import Planted

    Owner = psycopg.Connection[Any]


@pytest.fixture
def planted(owner: Owner) -> Planted:
    return plant(owner)


@pytest.fixture
def address(cluster: Cluster, store_database: str) -> str:
    return cluster.plain_url("dash_read", store_database)
