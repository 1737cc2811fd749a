"""Questions to the legs of a recall, and what each leg found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from queries.recall.asking import Asked
from queries.scope import Reach

if TYPE_CHECKING:
    import numpy.typing as npt

    from queries.recall.rows import Found

    Vectors = dict[str, npt.NDArray[np.float32]]
    Memory = dict[str, Vectors]

REACH = Reach.of(frozenset({"org_a"}))
ASKED = np.array([1, 2, 0, 1], np.float32)


def asked(*legs: str, vector: npt.NDArray[np.float32] | None = ASKED, **options: Any) -> Asked:  # noqa: ANN401 - Asked's own
    given = {"org": "org_a", "project": None, "text": "", "now": None, "pool": 7, "candidates": 7} | options
    return Asked(legs=legs, vector=vector, **given)


def legs_of(found: Found) -> list[list[str]]:
    """The ids of each leg, best first."""
    places = found.candidates["leg_ranks"]
    ids = found.candidates.ids
    return [[ids[row] for row in np.argsort(column) if column[row] >= 0] for column in places.T]
