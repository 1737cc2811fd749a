"""Rows of the peers' vectors as columns, and our order of them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ranking.order import stable_order

Rows = Sequence[Mapping[str, Any]]


def column(rows: Rows, name: str, missing: float = math.nan) -> Any:
    """One of their keys over all rows, as numbers."""
    values = (row.get(name) for row in rows)
    return np.array([missing if value is None else value for value in values], dtype=np.float64)


def in_order(ids: Sequence[Any], scores: Any) -> list[list[Any]]:
    """Ids and scores, best first."""
    return [[ids[row], float(scores[row])] for row in stable_order(np.asarray(scores, dtype=np.float64))]
