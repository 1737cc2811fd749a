from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from queries.owner import owning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from tests.conftest import Cluster


@pytest.fixture
def loading(cluster: Cluster, store_database: str) -> Iterator[Connection]:
    """A connection of the store's owner, by which it is filled."""
    with owning(cluster.url("postgres", store_database)) as engine, engine.begin() as connection:
        yield connection
