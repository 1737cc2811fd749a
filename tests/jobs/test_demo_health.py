"""Health's figures on the demo store, against the same answer formed with pandas from whole tables."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import psycopg
import pytest

from queries.engine import Store, make_engine
from queries.health.logged import LogIntegrity, LostRetrievals
from queries.health.stored import Duplicates, Usage, VectorGaps, Weights
from queries.scope import EVERYTHING, Scope
from tests.jobs.conftest import NOW
from tests.jobs.stores import libpq
from tests.queries.health.test_stored_and_logged import answered, slowly

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def reading(filled: str) -> Iterator[Store]:
    opened = Store(make_engine(filled, name="test"))
    yield opened
    opened.close()


def test_every_count_of_the_demo_equals_the_slow_answer(filled: str, reading: Store) -> None:
    scope = Scope.of_days(EVERYTHING, NOW.date() - timedelta(days=29), NOW.date())
    with psycopg.connect(libpq(filled), autocommit=True) as owner:
        expected = slowly(owner, scope)
    questions = (
        Duplicates(scope), Weights(scope), VectorGaps(scope), Usage(scope), LogIntegrity(scope), LostRetrievals(scope),
    )  # fmt: skip
    for question in questions:
        name = type(question).__name__
        found = answered(reading, question)
        for counts in found.values():
            counts.pop("truncated", None)
        for counts in expected[name].values():
            counts.pop("truncated", None)
        assert found == expected[name], name
        assert found
