"""A first day is told from an empty window, by one row of anything."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from queries.holdings import Holdings
from queries.scope import EVERYTHING, Scope
from tests import sample

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

LONG_AGO = sample.TODAY.date() - timedelta(days=900)


def held(store: Store, org: str, project: str | None = None) -> list[bool]:
    scope = Scope.of_days(EVERYTHING, LONG_AGO, LONG_AGO, org, project)
    return [bool(value) for value in store.ask(Holdings(scope)).iloc[0]]


def test_whatever_the_window_and_for_nobody_else(store: Store, owner: Owner) -> None:
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
    assert held(store, "org_a") == [False, False, False]
    sample.add_observations(owner, "org_a", 1)
    assert held(store, "org_a") == [True, False, False]
    sample.add_session(owner, "org_a", "s")
    sample.add_retrieval(owner, "org_a", sample.unchanged(2), name="r")
    assert held(store, "org_a") == [True, True, True]
    assert held(store, "org_a", "api") == [True, True, True]
    assert held(store, "org_a", "web") == [False, False, False]
    assert held(store, "org_b") == [False, False, False]
