from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from queries.schema import ROUTES as VECTOR_ROUTES
from tests import sample
from tests.memories import add_memory

if TYPE_CHECKING:
    import psycopg

    from tests.queries.recall.asked import Memory

    Owner = psycopg.Connection[Any]

WORDS = ("kiwi", "mango", "papaya", "quinoa", "radish", "salmon")
# few distinct vectors, so that ties are common
KINDS = np.random.default_rng(5).integers(-2, 3, (6, 4)).astype(np.float32)


@pytest.fixture
def memory(owner: Owner) -> Memory:
    """Sixty observations of one organization and twenty of another, with vectors of every kind for most."""
    draw = np.random.default_rng(3)
    held: Memory = {route: {} for route in VECTOR_ROUTES}
    for org, numbers in (("org_a", range(60)), ("org_b", range(60, 80))):
        sample.add_organization(owner, org)
        for number in numbers:
            vectors = {route: KINDS[draw.integers(6)] for route in VECTOR_ROUTES if draw.random() < 0.7}
            text = " ".join(WORDS[word] for word in draw.integers(0, 6, draw.integers(1, 9)))
            status = "active" if number % 9 else "archived"
            at = sample.TODAY - timedelta(hours=number)
            project = "api" if number % 2 else "web"
            id_ = add_memory(owner, org, number, text, vectors, status=status, created_at=at, project_id=project)
            if org == "org_a" and status == "active":
                for route, vector in vectors.items():
                    held[route][id_] = vector
    return held
