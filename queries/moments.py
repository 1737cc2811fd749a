"""Moments that a datetime can hold, also as whole microseconds since 1970, which numpy and JSON hold exactly."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, case, cast, func, literal_column

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

BEGIN, END = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)  # all time, as a window
EARLIEST, LATEST = "0001-01-02", "9999-12-30"  # what a datetime can hold, in any zone


def microseconds(moment: ColumnElement[Any]) -> ColumnElement[int]:
    """A moment that is known to lie in a window."""
    return cast(func.extract("epoch", moment) * 1_000_000, BigInteger)


def is_datable(moment: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether a datetime can hold it: Postgres knows infinity and the years before Christ."""
    return moment.between(literal_column(f"'{EARLIEST}'"), literal_column(f"'{LATEST}'"))


def datable(column: ColumnElement[datetime]) -> ColumnElement[datetime | None]:
    """A moment, or nothing where Postgres holds one that no datetime can."""
    return case((is_datable(column), column))


def datable_microseconds(moment: ColumnElement[Any]) -> ColumnElement[int | None]:
    """Any moment; null for one that no datetime can hold."""
    return case((is_datable(moment), microseconds(moment)))
