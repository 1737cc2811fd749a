from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from queries import schema
from queries.load import rebuilt_indexes
from queries.owner import owning

if TYPE_CHECKING:
    import psycopg
    from sqlalchemy import Connection

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

INDEXES = """select indexrelid::regclass::text, pg_get_indexdef(indexrelid), obj_description(indexrelid, 'pg_class')
               from pg_index where indrelid::regclass::text = any (%s) order by 1"""
LOADED = ["observations", "observation_embeddings"]


class TestIndexes:
    def test_they_come_back_as_they_were_with_what_they_serve(self, loading: Connection, owner: Owner) -> None:
        tables = [schema.observations, schema.observation_embeddings]
        before = owner.execute(INDEXES, (LOADED,)).fetchall()
        with rebuilt_indexes(loading, tables):
            left = loading.exec_driver_sql(INDEXES, (LOADED,)).all()
            assert {name for name, *_ in left} == {"observations_pkey", "observation_embeddings_pkey"}
        assert [tuple(row) for row in loading.exec_driver_sql(INDEXES, (LOADED,)).all()] == before
        assert any("hnsw" in definition and serves for _, definition, serves in before)

    def test_a_load_that_fails_leaves_them_alone(self, cluster: Cluster, store_database: str, owner: Owner) -> None:
        before = owner.execute(INDEXES, (LOADED,)).fetchall()
        with (
            pytest.raises(RuntimeError, match="stop"),
            owning(cluster.url("postgres", store_database)) as engine,
            engine.begin() as connection,
            rebuilt_indexes(connection, [schema.observations]),
        ):
            raise RuntimeError("stop")
        assert owner.execute(INDEXES, (LOADED,)).fetchall() == before
