from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.analysis.corroboration.angles import inspecting, plant_fan

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from retrieval.retrieve import Memory

    Owner = psycopg.Connection[Any]


@pytest.fixture
def memory(store: Store) -> Memory:
    return inspecting(store)


@pytest.fixture
def fan(owner: Owner) -> list[str]:
    return plant_fan(owner)
