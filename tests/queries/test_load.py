from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import pytest

from queries import schema
from queries.load import copy_records, rebuilt_indexes
from queries.owner import owning

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from sqlalchemy import Connection

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

INDEXES = """select indexrelid::regclass::text, pg_get_indexdef(indexrelid), obj_description(indexrelid, 'pg_class')
               from pg_index where indrelid::regclass::text = any (%s) order by 1"""
LOADED = ["observations", "observation_embeddings"]


@pytest.fixture
def loading(cluster: Cluster, store_database: str) -> Iterator[Connection]:
    with owning(cluster.url("postgres", store_database)) as engine, engine.begin() as connection:
        yield connection


def add_observation(owner: Owner) -> object:
    id_ = uuid4()
    owner.execute("insert into organizations (id, name) values ('a', 'A')")
    owner.execute(
        "insert into observations (org_id, id, content, content_hash) values ('a', %s, 'a text of words', 'x')", (id_,)
    )
    return id_


class TestRecords:
    def test_a_vector_arrives_to_the_last_bit(self, loading: Connection, owner: Owner) -> None:
        id_ = add_observation(owner)
        vector = np.array([0.1, -2.5e-7, 3e8], dtype=np.float32)
        table, columns = schema.observation_embeddings, ("org_id", "observation_id", "route", "embedding")
        assert copy_records(loading, table, columns, iter([("a", id_, "full", vector)])) == 1
        loading.commit()
        ((stored,),) = owner.execute("select embedding::real[] from observation_embeddings").fetchall()
        assert np.array(stored, dtype=np.float32).tobytes() == vector.tobytes()

    def test_no_record_is_no_row(self, loading: Connection) -> None:
        assert copy_records(loading, schema.projects, ("org_id", "id", "name"), ()) == 0

    def test_a_column_the_table_lacks_is_refused(self, loading: Connection) -> None:
        with pytest.raises(ValueError, match="expected columns of projects; found colour"):
            copy_records(loading, schema.projects, ("id", "colour"), [("a", "red")])


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
