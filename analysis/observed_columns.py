"""Observations as the store hands them over, as the aligned columns that clustering and contradictions take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from queries.aggregation_input import ObservationRow
    from queries.drift.observed import ObservedRow

NO_DATE = np.iinfo(np.int64).min  # what NaT is


def observed_columns(rows: Sequence[ObservationRow] | Sequence[ObservedRow]) -> dict[str, Any]:
    """The columns of the rows, in their order; a time that no calendar holds is none."""
    created = np.array([NO_DATE if row.created_us is None else row.created_us for row in rows], np.int64)
    return {
        "ids": [row.id for row in rows],
        "content": [row.content for row in rows],
        "created_at": created.view("datetime64[us]"),
        "agent_id": [row.agent_id for row in rows],
        "session_id": [row.session_id for row in rows],
        "weight": np.array([row.weight for row in rows], np.float64),
    }
