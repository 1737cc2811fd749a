from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.queries.isolation.planted import plant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cluster

    Connection = psycopg.Connection[Any]


@pytest.fixture(scope="module")
def populated(cluster: Cluster, template: str) -> Iterator[str]:
    """A store with a row of each organization in every table that knows them; no test leaves a change in it."""
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        plant(owner)
    yield name
    cluster.drop(name)


@pytest.fixture(scope="module")
def superuser(cluster: Cluster, populated: str) -> Iterator[Connection]:
    with psycopg.connect(cluster.plain_url("postgres", populated), autocommit=True) as connection:
        yield connection


@pytest.fixture(autouse=True)
def _no_leftover_connections(cluster: Cluster) -> Iterator[None]:
    yield
    left = cluster.run("select count(*) from pg_stat_activity where usename like 'dash%' and state like 'idle in%'")
    assert left == [(0,)]
