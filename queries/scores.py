"""Scores as a store holds them: any double precision, also none at all, not a number, or infinite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, case, literal
from sqlalchemy.types import Double

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement


def is_finite(score: ColumnElement[float]) -> ColumnElement[bool]:
    """True for a number, null for a missing one; in Postgres NaN equals itself and sorts above infinity."""
    return and_(score > literal(float("-inf"), Double), score < literal(float("inf"), Double))


def best_first(score: ColumnElement[float], id_: ColumnElement[Any]) -> tuple[ColumnElement[Any], ...]:
    """The library's order: by score, equal ones by id, and what is no number last, by id too."""
    return case((is_finite(score), score)).desc().nulls_last(), id_
