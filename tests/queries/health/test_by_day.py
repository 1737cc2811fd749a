"""The log by day of a part of it: the same retrievals, standing for as many, as Feedback Impact draws."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from queries.health.by_day import LoggedByDay
from queries.impact.measures import Measures
from queries.impact.selection import Selection
from queries.scope import EVERYTHING, Scope
from queries.shape import COMPLETE_SHAPE, LogShape
from tests import sample
from tests.long_log import LONG, plant

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

TODAY = sample.TODAY.date()
WINDOW = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY)


@pytest.mark.parametrize("shape", [COMPLETE_SHAPE, LONG], ids=["whole", "drawn"])
def test_days_are_those_of_feedback_impact(store: Store, owner: Owner, shape: LogShape) -> None:
    plant(owner)
    sample.add_retrieval(owner, "org_a", sample.unchanged(8), name="the window before", days_ago=9)
    days = store.ask(LoggedByDay(WINDOW, shape))
    expected = store.ask(Measures(Selection(WINDOW, shape=shape)))[["day", "retrievals", "complete"]]
    assert len(days)
    assert days.to_dict("records") == expected.to_dict("records")
