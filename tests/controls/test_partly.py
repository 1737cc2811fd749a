"""Of a store too large to answer everything in time, the most is answered, and nobody waits for the rest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from sqlalchemy import func, literal, select

from controls import partly
from queries.errors import StoreError
from queries.scope import EVERYTHING, Scope
from tests.pages.application import application

if TYPE_CHECKING:
    from sqlalchemy import Select

    from tests.conftest import Cluster

SCOPE = Scope.of_days(EVERYTHING, date(2026, 1, 1), date(2026, 1, 2))


@dataclass(frozen=True)
class Number:
    number: int


@dataclass(frozen=True)
class Sleeping:
    """One that takes so many seconds and may take half of one."""

    scope: Scope
    seconds: float
    row: ClassVar[type] = Number
    limit: ClassVar[float] = 0.5

    def statement(self) -> Select[Any]:
        return select(literal(1)).where(func.pg_sleep(self.seconds).is_not(None))


def asked(**seconds: float) -> partly.Partly:
    return partly.each({name: Sleeping(SCOPE, each) for name, each in seconds.items()})


def test_what_is_slow_costs_its_own_answer_alone(cluster: Cluster, store_database: str) -> None:
    with application(cluster.plain_url("dash_read", store_database)):
        found = asked(quick=0.0, slow=3.0, late=0.01)
    assert set(found.frames) == {"quick", "late"}
    assert {name: error.kind for name, error in found.failed.items()} == {"slow": "slow"}


def test_patience_ends_and_the_rest_counts_as_slow(
    cluster: Cluster, store_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partly, "PATIENCE", 0.3)
    with application(cluster.plain_url("dash_read", store_database)):
        found = asked(quick=0.0, slow=3.0, late=0.01, later=0.02)
    assert set(found.frames) == {"quick"}
    assert {name: error.kind for name, error in found.failed.items()} == dict.fromkeys(
        ("slow", "late", "later"), "slow"
    )


def test_nothing_in_time_is_an_error(cluster: Cluster, store_database: str) -> None:
    with application(cluster.plain_url("dash_read", store_database)), pytest.raises(StoreError, match="slow"):
        asked(slow=3.0, slower=4.0)


def test_nothing_where_one_is_slow_but_an_error_where_that_is_no_excuse(cluster: Cluster, store_database: str) -> None:
    quick, slow = Sleeping(SCOPE, 0.0), Sleeping(SCOPE, 3.0)
    with application(cluster.plain_url("dash_read", store_database)):
        found = partly.unless_lacking(quick)
        assert found is not None
        assert len(found) == 1
        assert partly.unless_lacking(slow) is None
        with pytest.raises(StoreError, match="slow"):
            partly.ours(slow)
