"""Rows of the store as pandas frames whose columns and types come from a dataclass, also when there are no rows."""

from __future__ import annotations

import dataclasses
import types
import typing
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Nullable types for counts and flags, so that a missing one stays missing and is never shown as 0 or False.
DTYPES: dict[type, str] = {
    str: "string",
    int: "Int64",
    float: "float64",
    bool: "boolean",
    datetime: "datetime64[us, UTC]",
    UUID: "string",
}


@cache
def dtypes(row_type: type) -> dict[str, str]:
    """The dtype of every field of a row dataclass, in its order; what has no dtype of its own stays an object."""
    hints = typing.get_type_hints(row_type)
    return {f.name: DTYPES.get(_plain(hints[f.name]), "object") for f in dataclasses.fields(row_type)}


def frame(rows: Iterable[Sequence[Any]], row_type: type) -> pd.DataFrame:
    """Rows in field order as a frame typed by ``row_type``."""
    wanted = dtypes(row_type)
    columns = list(zip(*rows, strict=True)) or [()] * len(wanted)
    if len(columns) != len(wanted):
        raise ValueError(f"expected {len(wanted)} columns for {row_type.__name__}, found {len(columns)}")
    series = {
        name: pd.Series(_values(column, dtype), dtype=dtype)
        for (name, dtype), column in zip(wanted.items(), columns, strict=True)
    }
    return pd.DataFrame(series)


def _values(column: Sequence[Any], dtype: str) -> list[Any]:
    if dtype == "string":
        return [None if value is None else str(value) for value in column]
    return list(column)


def _plain(hint: Any) -> Any:  # noqa: ANN401 - a type hint is whatever typing made of it
    """``X`` for ``X | None``; the hint itself otherwise."""
    if isinstance(hint, types.UnionType):
        inner = [option for option in typing.get_args(hint) if option is not types.NoneType]
        return inner[0] if len(inner) == 1 else object
    return hint
