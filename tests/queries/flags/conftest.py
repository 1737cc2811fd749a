from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests import sample

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]


@pytest.fixture
def _organizations(owner: Owner) -> None:
    """One whose flags stand beside what the platform keeps there, and one without any."""
    sample.add_organization(owner, "org_a", features='{"other": {"deep": [1, null]}, "n": 1e400}')
    sample.add_organization(owner, "org_b")


@pytest.fixture
def _counting(owner: Owner) -> None:
    """An organization in whose flags the platform counts something."""
    sample.add_organization(owner, "org_a", features={"counter": 0})
