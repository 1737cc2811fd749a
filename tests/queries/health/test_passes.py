"""Aggregation passes: sums of any number of projects against pandas, and the table of those that need a hand."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from analysis.health.counts import by_organization
from queries.health.passes import PASSES, Aggregated, Passes
from tests import sample
from tests.health_store import NOW, frames, plant
from tests.queries.health.test_stored_and_logged import SCOPES

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from queries.scope import Scope

    Owner = psycopg.Connection[Any]


def add_passes(owner: Owner, org: str, projects: list[str | None], *, hours: int = 2) -> None:
    """A finished pass of each project that read ten and found five of them in two clusters."""
    with owner.cursor() as cursor:
        cursor.executemany(
            """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version, observations, clusters,
                 corroborated, started_at, finished_at) values (%s, %s, 'done', 'v', 10, 2, 5, %s, %s)""",
            [(org, project, NOW, NOW - timedelta(hours=hours)) for project in projects],
        )


def slowly(tables: dict[str, pd.DataFrame]) -> dict[str, tuple[Any, ...]]:
    """Projects, repeats, rows read and since when the one waits that waits longest, one project at a time."""
    stored, runs = tables["observations"], tables["aggregation_runs"]
    stored = stored[stored["status"] == "active"]
    projects: dict[str, set[str | None]] = {}
    for rows in (stored, runs):
        for org, project in rows[["org_id", "project_id"]].to_numpy():
            projects.setdefault(str(org), set()).add(None if pd.isna(project) else str(project))
    found = {}
    for org, names in projects.items():
        repeats = passed = 0
        times = []
        for name in names:
            mine = runs[(runs["org_id"] == org) & (runs["state"] == "done")]
            mine = mine[mine["project_id"].isna() if name is None else mine["project_id"] == name]
            if mine.empty:
                own = stored[stored["org_id"] == org]
                own = own[own["project_id"].isna() if name is None else own["project_id"] == name]
                times += list(own["created_at"])
                continue
            last = mine.sort_values("id").iloc[-1]
            members = tables["clusters"]
            repeats += int((members["run_id"] == last["id"]).sum()) - int(last["clusters"])
            passed += int(last["observations"])
            times.append(last["finished_at"] if pd.isna(last["checked_at"]) else last["checked_at"])
        found[org] = (len(names), repeats, passed, min(times, default=None))
    return found


def summed(store: Store, scope: Scope) -> dict[str, tuple[Any, ...]]:
    rows = store.ask(Aggregated(scope)).itertuples(index=False)
    return {
        str(row.org_id): (*map(int, row[1:4]), None if pd.isna(row.oldest) else row.oldest)  # type: ignore[arg-type]
        for row in rows
    }


@pytest.mark.parametrize("name", SCOPES)
def test_the_sums_equal_the_slow_answer(store: Store, owner: Owner, name: str) -> None:
    plant(owner, 1)
    expected = slowly(frames(owner, SCOPES[name]))
    assert summed(store, SCOPES[name]) == expected
    assert all(repeats == passed // 60 * (12 - 3) for _, repeats, passed, _ in expected.values())


def test_an_organization_after_the_first_five_hundred_projects_was_aggregated_too(store: Store, owner: Owner) -> None:
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
        sample.add_observations(owner, org, 2)
    add_passes(owner, "org_a", ["api", *(f"p{number}" for number in range(PASSES + 1))], hours=3)
    add_passes(owner, "org_b", ["api"])
    answer = store.ask(Aggregated(SCOPES["all"]))
    counts = by_organization({"passes": answer}, NOW)
    # five members in two clusters: three repeats of ten rows, in each of 502 projects
    assert counts["org_a"] == {"repeats": 3.0 * 502, "passed": 5020.0, "hours_since_pass": 3.0}
    assert counts["org_b"] == {"repeats": 3.0, "passed": 10.0, "hours_since_pass": 2.0}


def hours(store: Store) -> float | None:
    return by_organization({"passes": store.ask(Aggregated(SCOPES["one"]))}, NOW)["org_a"].get("hours_since_pass")


class TestWaiting:
    """Ten projects were aggregated two hours ago; an eleventh has had no pass yet."""

    @pytest.fixture(autouse=True)
    def ten(self, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        add_passes(owner, "org_a", [f"p{number}" for number in range(10)])

    def wait(self, owner: Owner, *minutes: int, project: str | None = "new") -> None:
        for each in minutes:
            (id_,) = sample.add_observations(owner, "org_a", 1, days_ago=each)
            owner.execute(
                "update observations set project_id = %s, created_at = %s where id = %s",
                (project, NOW - timedelta(minutes=each), id_),
            )

    def test_one_that_was_just_begun_alarms_nobody(self, store: Store, owner: Owner) -> None:
        self.wait(owner, 1)
        assert summed(store, SCOPES["one"])["org_a"][0] == 11
        assert hours(store) == 2

    @pytest.mark.parametrize("project", ["new", None])
    def test_it_has_waited_as_long_as_its_oldest_observation(
        self, store: Store, owner: Owner, project: str | None
    ) -> None:
        """Thirty hours and one minute."""
        self.wait(owner, 1, 30 * 60, project=project)
        assert hours(store) == 30
        add_passes(owner, "org_a", [project])
        assert hours(store) == 2

    def test_a_pass_that_only_failed_saw_nothing(self, store: Store, owner: Owner) -> None:
        self.wait(owner, 30 * 60)
        owner.execute(
            """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version, error, started_at,
                 finished_at) values ('org_a', 'new', 'failed', '', 'it broke', %s, %s)""",
            (NOW, NOW),
        )
        assert hours(store) == 30

    def test_what_was_archived_waits_for_nothing(self, store: Store, owner: Owner) -> None:
        self.wait(owner, 30 * 60)
        owner.execute("update observations set status = 'archived'")
        assert hours(store) == 2
        owner.execute("update rankscope.aggregation_runs set state = 'failed', error = 'it broke'")
        assert hours(store) is None


class TestPasses:
    def test_the_newest_result_and_the_failure_of_each_project(self, store: Store, owner: Owner) -> None:
        plant(owner, 1, size=30)
        found = store.ask(Passes(SCOPES["one"]))
        # what failed first, then by name
        assert found["project_id"].isna().tolist() == [True, False, False]
        assert found["project_id"].tolist()[1:] == ["api", "web"]
        assert found["finished_at"].tolist()[1] == NOW - timedelta(hours=2)
        assert found["error"].isna().tolist() == [False, True, True]
        assert found["finished_at"].isna().tolist() == [True, False, False]

    def test_a_project_that_no_pass_has_looked_at_is_listed(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        sample.add_observations(owner, "org_a", 1)
        add_passes(owner, "org_a", ["aaa"])
        found = store.ask(Passes(SCOPES["one"]))
        assert found["project_id"].tolist() == ["api", "aaa"]
        assert found[["finished_at", "failed_at"]].isna().to_numpy().tolist() == [[True, True], [False, True]]

    def test_a_project_of_the_scope_alone(self, store: Store, owner: Owner) -> None:
        plant(owner, 1, size=30)
        assert store.ask(Passes(SCOPES["project"]))["project_id"].tolist() == ["api"]
