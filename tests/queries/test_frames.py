"""Frames have the types of their row dataclass, whatever the rows hold."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import pandas as pd
import pytest

from queries.frames import dtypes, frame


@dataclass(frozen=True)
class Row:
    name: str
    count: int
    score: float
    on: bool
    at: datetime | None
    id: UUID
    parts: list[int]


EXPECTED = {
    "name": "string", "count": "Int64", "score": "float64", "on": "boolean", "at": "datetime64[us, UTC]",
    "id": "string", "parts": "object",
}  # fmt: skip
ID = UUID(int=7)


def test_types_come_from_the_dataclass() -> None:
    assert dtypes(Row) == EXPECTED


def test_an_empty_answer_has_the_same_types_as_a_full_one() -> None:
    full = frame([("a", 1, 0.5, True, datetime(2026, 1, 1, tzinfo=UTC), ID, [1])], Row)
    empty = frame([], Row)
    assert full.dtypes.to_dict() == empty.dtypes.to_dict()
    assert list(empty.columns) == list(EXPECTED)
    assert {name: str(dtype) for name, dtype in full.dtypes.items()} == EXPECTED


def test_what_is_missing_stays_missing() -> None:
    row = frame([(None, None, None, None, None, None, None)], Row).iloc[0]
    assert all(pd.isna(value) for value in row)


def test_a_column_too_few_is_an_error() -> None:
    with pytest.raises(ValueError, match="expected 7 columns for Row, found 2"):
        frame([("a", 1)], Row)
