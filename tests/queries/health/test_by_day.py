"""Days as pages take them: the log's are those of Feedback Impact, sessions are counted by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from queries.health.by_day import EndedByDay, EndedOfSome, LoggedByDay
from queries.impact.measures import Measures
from queries.impact.selection import Selection
from queries.scope import EVERYTHING, Reach, Scope
from queries.shape import COMPLETE_SHAPE, LogShape
from tests import sample
from tests.long_log import LONG, plant
from tests.pages.test_health_fleet import add_sessions

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


def test_sessions_of_some_organizations_and_of_the_others_together(store: Store, owner: Owner) -> None:
    """Accepted of all on each day; what lies outside the window or the reach, or has no outcome, is in none."""
    for number, org in enumerate(("org_a", "org_b", "org_c", "org_d")):
        sample.add_organization(owner, org)
        for ago in (0, 3, 7):
            add_sessions(owner, org, ago, number + ago, 10)
    owner.execute("update sessions set outcome = null where org_id = 'org_a' and id like '3/%%'")
    owner.execute("alter table sessions drop constraint sessions_outcome_check")
    owner.execute("insert into sessions (org_id, id, outcome, created_at) values ('org_a', 'x', 'lost', now())")
    today, past = (sample.TODAY - timedelta(days=ago) for ago in (0, 3))
    reach = Reach(("org_a", "org_b", "org_c"))
    scope = Scope(reach, WINDOW.since, WINDOW.until)

    def asked(*orgs: str, every: bool) -> list[tuple[str | None, object, int, int]]:
        rows = store.ask(EndedOfSome(scope, orgs, every)).itertuples(index=False, name=None)
        return [(org if isinstance(org, str) else None, *rest) for org, *rest in rows]

    some = [("org_a", today, 10, 0), ("org_b", past, 10, 4), ("org_b", today, 10, 1)]
    assert asked("org_a", "org_b", "org_d", every=False) == some
    assert asked("org_a", "org_b", "org_d", every=True) == [*some, (None, past, 10, 5), (None, today, 10, 2)]
    together = asked(every=True)
    assert together == [(None, past, 20, 9), (None, today, 30, 3)]
    whole = store.ask(EndedByDay(Scope(reach, past, WINDOW.until)))
    assert whole.to_numpy().tolist()[1:] == [list(row[1:]) for row in together]


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
