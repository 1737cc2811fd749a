"""The log by day of a part of it: the same retrievals, standing for as many, as Feedback Impact draws."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from queries.health.by_day import EndedByDay, LoggedByDay
from queries.impact.measures import Measures
from queries.impact.selection import Selection
from queries.scope import EVERYTHING, Reach, Scope
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


def test_sessions_that_ended_from_the_first_moment_of_the_window_before_to_the_last_of_this_one(
    store: Store, owner: Owner
) -> None:
    midnight = datetime.combine(TODAY, time(), UTC)
    first, after = midnight - timedelta(days=13), midnight + timedelta(days=1)
    moment = timedelta(microseconds=1)
    owner.execute("alter table sessions drop constraint sessions_outcome_check")
    owner.execute("set time zone 'Asia/Tokyo'")
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
        for number, (at, project, outcome) in enumerate(
            (
                (first - moment, "api", "accepted"),
                (first, "api", "accepted"),
                (first + timedelta(hours=23), "web", "rework"),
                (after - moment, "api", "rejected"),
                (after - moment, "api", "abandoned"),
                (after - moment, "api", None),
                (after, "api", "accepted"),
            )
        ):
            owner.execute(
                "insert into sessions (org_id, id, project_id, outcome, created_at) values (%s, %s, %s, %s, %s)",
                (org, str(number), project, outcome, at),
            )
    for scope, times in ((WINDOW, 2), (replace(WINDOW, org="org_a"), 1), (replace(WINDOW, reach=Reach(("org_b",))), 1)):
        found = store.ask(EndedByDay(scope)).to_numpy().tolist()
        assert found == [[first, 2 * times, times], [midnight, times, 0]]
    of_project = store.ask(EndedByDay(replace(WINDOW, org="org_a", project="api")))
    assert of_project["judged"].tolist() == [1, 1]
