"""The question that tests of recall ask, and three observations to answer it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from queries.scope import Reach
from retrieval.recall import RecallQuestion
from tests import sample
from tests.memories import add_memory

if TYPE_CHECKING:
    import numpy.typing as npt
    import psycopg

    Owner = psycopg.Connection[Any]
    Vector = npt.NDArray[np.float32]

REACH = Reach.of(frozenset({"org_a"}))
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
UP = np.array([0, 1], np.float32)


def question(text: str = "deploy", vector: Vector | None = UP, **options: Any) -> RecallQuestion:  # noqa: ANN401 - RecallQuestion's own
    return RecallQuestion("org_a", options.pop("project", None), text, vector, now=NOW, **options)


def plant_three(owner: Owner) -> list[str]:
    """Three observations at 90, 45 and 0 degrees to the question, and one that another organization holds."""
    sample.add_organization(owner, "org_a")
    sample.add_organization(owner, "org_b")
    add_memory(owner, "org_b", 9, "deploy at night", {"full": [0, 1]})
    return [
        add_memory(owner, "org_a", 1, "deploy at noon", {"full": [1, 0]}, weight=0.5),
        add_memory(owner, "org_a", 2, "never deploy", {"full": [1, 1]}, kind="reflection", reflection_depth=2),
        add_memory(owner, "org_a", 3, "lunch", {"full": [0, 2]}, tags=["food"], task_tag="deploy"),
    ]
