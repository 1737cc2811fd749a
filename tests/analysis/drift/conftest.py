"""A scope of two contradictions, and how alerts of it are told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analysis.drift.alerts import AlertFilter, Listed
from tests import sample
from tests.drift_store import PORTS, RETRIES, UNRELATED, add_pair
from tests.scopes import add_observation

if TYPE_CHECKING:
    from collections.abc import Iterable

    import psycopg

    Owner = psycopg.Connection[Any]

ALL = AlertFilter(0.5)


@pytest.fixture
def acme(owner: Owner) -> dict[str, tuple[str, str]]:
    """Two contradictions of one project, and the ports again in another organization."""
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
    add_pair(owner, "org_b", "ports", PORTS)
    add_observation(owner, "org_a", "else", UNRELATED)
    return {
        "ports": add_pair(owner, "org_a", "ports", PORTS),
        "retries": add_pair(owner, "org_a", "retries", RETRIES, days=60),
    }


def pairs(listed: Iterable[Listed]) -> set[tuple[str, str]]:
    return {(one.older.id, one.newer.id) for one in listed}
