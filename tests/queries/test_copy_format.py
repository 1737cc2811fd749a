"""Records that are written without a connection arrive as they were."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import select

from queries import own_schema, schema
from queries.copy_format import CHUNK, encoded
from queries.load import copy_encoded

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg
    from sqlalchemy import Connection, Table

    Owner = psycopg.Connection[Any]

ONE, TWO = UUID(int=1), UUID("ffffffff-ffff-ffff-ffff-fffffffffffe")
AT = datetime(2026, 3, 29, 12, 0, 0, 123456, tzinfo=UTC)


def stored(loading: Connection, table: Table, columns: Sequence[str], records: list[tuple[Any, ...]]) -> list[Any]:
    assert copy_encoded(loading, table, columns, encoded(table, columns, records)) == len(records)
    asked = select(*(table.c[name] for name in columns)).order_by(*(table.c[name] for name in columns[:2]))
    return [tuple(row) for row in loading.execute(asked)]


class TestEncoded:
    def test_texts_numbers_moments_flags_and_nulls(self, loading: Connection) -> None:
        columns = (
            "org_id", "retrieval_id", "session_id", "query_text", "observation_id", "relevance_score", "weighted_score",
            "unweighted_rank", "weighting_enabled", "injected", "pipeline", "created_at",
        )  # fmt: skip
        told = [
            ("a", ONE, "s", "żółć \U0001f30a\t\\N\n", TWO, 0.1 + 0.2, -math.inf, 2**31 - 1, True, False, "", AT),
            ("b", TWO, "s", "", ONE, 5e-324, None, -(2**31), False, None, None, datetime(1999, 12, 31, tzinfo=UTC)),
        ]
        assert stored(loading, schema.retrieval_ab_logs, columns, told) == told

    def test_counts_beyond_an_integer(self, loading: Connection) -> None:
        columns = (
            "org_id",
            "writer",
            "name",
            "queued",
            "written",
            "rows",
            "dropped",
            "failed",
            "started_at",
            "seen_at",
        )
        told = [("a", ONE, "p", 0, 2**31, 2**63 - 1, -(2**63), 5, AT, AT)]
        assert stored(loading, own_schema.log_writers, columns, told) == told

    def test_a_moment_of_another_zone_is_the_same_moment(self, loading: Connection) -> None:
        at = AT.astimezone(timezone(timedelta(hours=-7)))
        ((found,),) = {row[2:] for row in stored(
            loading, schema.organizations, ("id", "name", "created_at"), [("a", "A", at)]
        )}  # fmt: skip
        assert found == AT

    def test_json_and_lists_of_texts_and_ids(self, loading: Connection) -> None:
        features = {"on": True, "ę": [1, None, {"deep": "ü"}]}
        assert stored(loading, schema.organizations, ("id", "name", "features"), [("a", "A", features)]) == [
            ("a", "A", features)
        ]
        columns = ("org_id", "id", "content", "content_hash", "tags")
        told = [("a", ONE, "x", "h", ["one", "zwölf, {}", ""]), ("a", TWO, "y", "i", [])]
        assert stored(loading, schema.observations, columns, told) == told
        given = (
            "org_id", "session_id", "injected_observation_ids", "helpful_observation_ids", "misleading_observation_ids",
        )  # fmt: skip
        ended: list[tuple[Any, ...]] = [("a", "s", [ONE, TWO], [TWO], [])]
        assert stored(loading, schema.session_diagnostics, given, ended) == ended

    def test_a_vector_arrives_to_the_last_bit(self, loading: Connection) -> None:
        stored(loading, schema.organizations, ("id", "name"), [("a", "A")])
        stored(loading, schema.observations, ("org_id", "id", "content", "content_hash"), [("a", ONE, "x", "h")])
        vector, columns = np.array([0.1, -2.5e-7, 3e8], np.float32), ("org_id", "observation_id", "route", "embedding")
        table = schema.observation_embeddings
        assert copy_encoded(loading, table, columns, encoded(table, columns, [("a", ONE, "full", vector)])) == 1
        ((found,),) = loading.exec_driver_sql("select embedding::real[] from observation_embeddings").all()
        assert np.array(found, dtype=np.float32).tobytes() == vector.tobytes()

    def test_no_record_is_no_row(self, loading: Connection) -> None:
        assert stored(loading, schema.projects, ("org_id", "id", "name"), []) == []

    def test_many_come_in_pieces_and_none_is_lost(self, loading: Connection) -> None:
        columns, told = ("id", "name"), [(f"{n:05}", "n" * 100) for n in range(10_000)]
        assert stored(loading, schema.organizations, columns, told) == told
        pieces = list(encoded(schema.organizations, columns, told))
        assert len(pieces) > 3
        assert max(map(len, pieces)) < 2 * CHUNK

    def test_a_record_of_another_length_is_refused(self) -> None:
        with pytest.raises(ValueError, match="shorter"):
            list(encoded(schema.organizations, ("id", "name"), [("a",)]))
