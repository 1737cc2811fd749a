"""Aggregation passes: sums of any number of projects against pandas, and the table of those that need a hand."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from analysis.health.counts import NEVER, by_organization
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
    """Projects, those without a finished pass, repeats, rows read and the longest ago, one project at a time."""
    stored, runs = tables["observations"], tables["aggregation_runs"]
    stored = stored[stored["status"] == "active"]
    projects: dict[str, set[str | None]] = {}
    for rows in (stored, runs):
        for org, project in rows[["org_id", "project_id"]].to_numpy():
            projects.setdefault(str(org), set()).add(None if pd.isna(project) else str(project))
    found = {}
    for org, names in projects.items():
        unfinished = repeats = passed = 0
        times = []
        for name in names:
            mine = runs[(runs["org_id"] == org) & (runs["state"] == "done")]
            mine = mine[mine["project_id"].isna() if name is None else mine["project_id"] == name]
            if mine.empty:
                unfinished += 1
                continue
            last = mine.sort_values("id").iloc[-1]
            members = tables["clusters"]
            repeats += int((members["run_id"] == last["id"]).sum()) - int(last["clusters"])
            passed += int(last["observations"])
            times.append(last["finished_at"] if pd.isna(last["checked_at"]) else last["checked_at"])
        found[org] = (len(names), unfinished, repeats, passed, min(times, default=None))
    return found


def summed(store: Store, scope: Scope) -> dict[str, tuple[Any, ...]]:
    rows = store.ask(Aggregated(scope)).itertuples(index=False)
    return {
        str(row.org_id): (*map(int, row[1:5]), None if pd.isna(row.oldest) else row.oldest)  # type: ignore[arg-type]
        for row in rows
    }


@pytest.mark.parametrize("name", SCOPES)
def test_the_sums_equal_the_slow_answer(store: Store, owner: Owner, name: str) -> None:
    plant(owner, 1)
    expected = slowly(frames(owner, SCOPES[name]))
    assert summed(store, SCOPES[name]) == expected
    assert all(repeats == passed // 60 * (12 - 3) for _, _, repeats, passed, _ in expected.values())


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


def test_a_project_without_any_pass_was_never_aggregated(store: Store, owner: Owner) -> None:
    """Ten projects with a pass each do not make up for one without, nor for what belongs to no project."""
    sample.add_organization(owner, "org_a")
    add_passes(owner, "org_a", [f"p{number}" for number in range(10)])
    assert by_organization({"passes": store.ask(Aggregated(SCOPES["one"]))}, NOW)["org_a"]["hours_since_pass"] == 2
    sample.add_observations(owner, "org_a", 1)
    assert summed(store, SCOPES["one"])["org_a"][:2] == (11, 1)
    counts = by_organization({"passes": store.ask(Aggregated(SCOPES["one"]))}, NOW)["org_a"]
    assert counts["hours_since_pass"] == NEVER == math.inf
    add_passes(owner, "org_a", ["api"])
    owner.execute("update observations set project_id = null")
    assert summed(store, SCOPES["one"])["org_a"][:2] == (12, 1)
    add_passes(owner, "org_a", [None])
    assert summed(store, SCOPES["one"])["org_a"][:2] == (12, 0)
    owner.execute("update observations set project_id = 'new', status = 'archived'")
    assert summed(store, SCOPES["one"])["org_a"][:2] == (12, 0)


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
