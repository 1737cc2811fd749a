from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.retrieval.asked import plant_three

if TYPE_CHECKING:
    import psycopg


@pytest.fixture
def small(owner: psycopg.Connection[Any]) -> list[str]:
    """The three observations of ``plant_three``, farthest from the question first."""
    return plant_three(owner)
