"""Top observations, budgets and coverage against an answer formed with pandas from whole tables."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, get_args

import pandas as pd
import pytest

from queries.health.budget import WORK_TYPES, BudgetUse
from queries.health.coverage import ROWS, By, Coverage, steps
from queries.health.top import SHOWN, Kind, TopObservations
from queries.scope import EVERYTHING, Reach, Scope
from queries.shape import LogShape
from tests import sample
from tests.health_store import DECISIONS, NOW, frames, inside, plant, plant_elsewhere, plant_triage
from tests.queries.health.test_stored_and_logged import ALL

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

TODAY = NOW.date()
FIRST = TODAY - timedelta(days=29)
ONE = Scope.of_days(EVERYTHING, FIRST, TODAY, "org_a")
SCOPES = {
    "all": Scope.of_days(EVERYTHING, FIRST, TODAY),
    "one": ONE,
    "project": Scope.of_days(EVERYTHING, FIRST, TODAY, "org_b", "api"),
    "days": Scope.of_days(EVERYTHING, TODAY - timedelta(days=9), TODAY, "org_a"),
}


def read_by_anyone(owner: Owner, scope: Scope) -> pd.DataFrame:
    """The window's log of whole organizations: a session of no project or another one finds this one's memory too."""
    return inside(frames(owner, replace(scope, project=None))["retrieval_ab_logs"], scope)


def contradicted_slowly(tables: dict[str, pd.DataFrame], runs: set[int]) -> dict[tuple[str, Any], float]:
    """The severity of the gravest contradiction of each older side that nobody has settled in its favour or put off."""
    decided = tables["drift_triage"].set_index(["org_id", "fingerprint"]).to_dict("index")
    against: dict[tuple[str, Any], float] = {}
    for row in tables["contradictions"][tables["contradictions"]["run_id"].isin(runs)].to_dict("records"):
        said = decided.get((row["org_id"], row["fingerprint"]), {"state": "new", "verdict": None})
        if said["state"] == "false_positive" or said["verdict"] in ("older", "both"):
            continue
        if said["state"] == "snoozed" and said["snoozed_until"] > datetime.now(UTC):
            continue
        key = (row["org_id"], row["older"])
        against[key] = max(against.get(key, 0.0), row["severity"])
    return against


def top_slowly(owner: Owner, scope: Scope, kind: str) -> list[str]:
    """Ids in order, chosen observation by observation."""
    tables, log = frames(owner, scope), read_by_anyone(owner, scope)
    stored = tables["observations"]
    stored = stored[stored["status"] == "active"]
    used = {key: rows["retrieval_id"].nunique() for key, rows in log.groupby(["org_id", "observation_id"])}
    logged = frames(owner, replace(scope, project=None))["retrieval_ab_logs"]
    ever = set(
        logged[logged["created_at"] < scope.until][["org_id", "observation_id"]].itertuples(index=False, name=None)
    )
    runs = tables["aggregation_runs"]
    done = runs[runs["state"] == "done"].sort_values("id").drop_duplicates(["org_id", "project_id"], keep="last")
    named: Counter[tuple[str, Any]] = Counter()
    for row in inside(tables["session_diagnostics"], scope).to_dict("records"):
        named.update((row["org_id"], id_) for id_ in row["misleading_observation_ids"])
    against = contradicted_slowly(tables, set(done["id"]))
    clusters = tables["clusters"].set_index(["org_id", "run_id", "observation_id"])["agents"].to_dict()
    passes = {(row["org_id"], row["project_id"]): row for row in done.to_dict("records")}
    chosen: list[tuple[Any, str]] = []
    for row in stored.to_dict("records"):
        key = (row["org_id"], row["id"])
        found, weight = used.get(key, 0), row["weight"]
        last = str(row["id"])
        if kind in ("highest", "lowest") and found and math.isfinite(weight):
            chosen.append(((-weight if kind == "highest" else weight, -found, last), last))
        if kind == "most" and found:
            chosen.append(((-found, last), last))
        if kind == "misleading" and named[key]:
            chosen.append(((-named[key], -found, last), last))
        if kind == "outdated" and found and key in against:
            chosen.append(((-found, -against[key], last), last))
        read = key in ever or not pd.isna(row["last_accessed_at"])
        if kind == "never" and not read and row["created_at"] < scope.until - timedelta(days=7):
            chosen.append(((-row["created_at"].timestamp(), last), last))
        standing = passes.get((row["org_id"], row["project_id"]))
        if kind == "alone" and found and standing is not None and row["created_at"] <= standing["started_at"]:
            voices = clusters.get((row["org_id"], standing["id"], row["id"]), 1)
            if voices <= 1 and math.isfinite(weight):
                chosen.append(((-found, -weight, last), last))
    return [id_ for _, id_ in sorted(chosen)][:SHOWN]


@pytest.mark.parametrize("kind", get_args(Kind))
def test_top_observations_equal_the_slow_answer(store: Store, owner: Owner, kind: Kind) -> None:
    plant(owner, 4)
    plant_elsewhere(owner, 4)
    plant_triage(owner, 4)
    expected = [top_slowly(owner, scope, kind) for scope in SCOPES.values()]
    assert [store.ask(TopObservations(scope, kind))["id"].tolist() for scope in SCOPES.values()] == expected
    assert any(expected) if kind == "never" else expected[-1]


@pytest.mark.parametrize("decided", DECISIONS)
def test_outdated_is_worked_off_in_drift_alerts(
    store: Store, owner: Owner, decided: tuple[str, str | None, str | None] | None
) -> None:
    """Of two alerts against one observation the graver is decided; then the other one's severity is told."""
    done = (("resolved", "older", None), ("resolved", "both", None), ("false_positive", None, None))
    listed = decided not in (*done, ("snoozed", None, "1 day"))
    sample.add_organization(owner, "org_a")
    older, newer, more = sample.add_observations(owner, "org_a", 3)
    sample.add_retrieval(owner, "org_a", sample.unchanged(1), name="one", observations=[older])
    (run,) = owner.execute(
        """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version)
           values ('org_a', 'api', 'done', 'v') returning id"""
    ).fetchone()  # type: ignore[misc]
    insert = """insert into rankscope.contradictions values
                  ('org_a', %s, %s, %s, %s, %s, 'value', 'r', 1, %s, '{}', '[]')"""
    owner.execute(insert, (run, 0, "grave", older, newer, 0.9))
    if decided is not None:
        owner.execute(
            """insert into rankscope.drift_triage (org_id, fingerprint, state, verdict, snoozed_until, changed_by)
               values ('org_a', 'grave', %s, %s, now() + %s::interval, 'ann')""",
            decided,
        )
    found = store.ask(TopObservations(ONE, "outdated"))
    assert found["severity"].tolist() == ([0.9] if listed else [])
    owner.execute(insert, (run, 1, "light", older, more, 0.3))
    found = store.ask(TopObservations(ONE, "outdated"))
    assert (found["id"].tolist(), found["severity"].tolist()) == ([str(older)], [0.9 if listed else 0.3])


def test_a_store_that_does_not_log_injection_has_no_figure_for_it(store: Store, owner: Owner) -> None:
    plant(owner, 4, size=30)
    assert store.ask(TopObservations(ONE, "highest", LogShape(injected=False)))["injected"].isna().all()


def test_budgets_equal_the_slow_answer(store: Store, owner: Owner) -> None:
    plant(owner, 5)
    for scope in SCOPES.values():
        tables = frames(owner, scope)
        given = inside(tables["context_injection_logs"], scope)
        sessions = tables["sessions"].set_index(["org_id", "id"]).to_dict("index")
        sums: dict[str | None, Counter[str]] = {}
        for key, rows in given.groupby(["org_id", "session_id"]):
            session = sessions[key]
            outcome = session["outcome"] if isinstance(session["outcome"], str) else None
            work = session["work_type"] if isinstance(session["work_type"], str) else None
            mine = sums.setdefault(work, Counter())
            tokens = int(rows["tokens_used"].sum())
            mine["judged" if outcome else "unjudged"] += 1
            if outcome:
                mine.update({outcome: 1, "tokens": tokens, "squares": tokens * tokens})
        found = store.ask(BudgetUse(scope))
        got = {
            None if pd.isna(row["work_type"]) else row["work_type"]: Counter(
                {name: int(row[name]) for name in found.columns[1:-1]}
            )
            for row in found.to_dict("records")
        }
        assert got == sums
        assert all(sums.values())
        assert set(found["work_types"]) == {len(sums)}


def test_more_work_types_than_are_asked_for_are_counted(store: Store, owner: Owner) -> None:
    sample.add_organization(owner, "org_a")
    for number in range(WORK_TYPES + 3):
        owner.execute(
            "insert into sessions (org_id, id, work_type, created_at) values ('org_a', %s, %s, %s)",
            (f"s{number}", f"w{number:02}", NOW),
        )
        owner.execute(
            """insert into context_injection_logs (org_id, retrieval_id, session_id, token_budget, tokens_used,
                 candidates, created_at) values ('org_a', gen_random_uuid(), %s, 9, 9, 9, %s)""",
            (f"s{number}", NOW),
        )
    found = store.ask(BudgetUse(ONE))
    assert (len(found), set(found["work_types"])) == (40, {43})


@pytest.mark.parametrize("by", get_args(By))
def test_coverage_equals_the_slow_answer(store: Store, owner: Owner, by: By) -> None:
    plant(owner, 6)
    plant_elsewhere(owner, 6)
    for scope in SCOPES.values():
        tables = frames(owner, scope)
        stored = tables["observations"]
        stored = stored[(stored["status"] == "active") & (stored["created_at"] < scope.until)]
        log = read_by_anyone(owner, scope)
        log = log[log["injected"] == True]  # noqa: E712 - null is neither
        name = f"{by}_id"
        expected = {}
        groups: Any = stored.groupby(["org_id", name], dropna=False)
        for (org, key), rows in groups:
            mine = log[(log["org_id"] == org) & log["observation_id"].isin(rows["id"])]
            for step, (begins, ends) in enumerate(steps(scope)):
                during = mine[(mine["created_at"] >= begins) & (mine["created_at"] < ends)]
                cell = (int((rows["created_at"] < ends).sum()), during["observation_id"].nunique(), len(rows))
                expected[(org, None if pd.isna(key) else key, step)] = cell
        # counted, and as what is drawn is looked up: here, all of it
        for question in (Coverage(scope, by), Coverage(scope, by, share=ALL)):
            found = store.ask(question).to_dict("records")
            got = {
                (row["org_id"], None if pd.isna(row["name"]) else row["name"], row["step"]): (
                    row["stored"], row["injected"], row["total"],
                )
                for row in found
            }  # fmt: skip
            assert got == expected
            for row in found:
                cells = [cell for (_, _, step), cell in expected.items() if step == row["step"]]
                assert (row["all_stored"], row["all_injected"]) == (sum(c[0] for c in cells), sum(c[1] for c in cells))
                assert row["names"] == len(cells)
        assert any(cell[1] for cell in expected.values())


def test_coverage_counts_what_lies_beyond_the_largest(store: Store, owner: Owner) -> None:
    """Two observations in each of 30 projects, none injected; one each in five more, all injected: 5 of 65."""
    sample.add_organization(owner, "org_a")
    ids = sample.add_observations(owner, "org_a", 2 * ROWS + 5)
    for number, id_ in enumerate(ids):
        project = f"p{number // 2:02}" if number < 2 * ROWS else f"q{number}"
        owner.execute("update observations set project_id = %s where id = %s", (project, id_))
    sample.add_retrieval(owner, "org_a", sample.unchanged(5), name="one", observations=ids[-5:])
    owner.execute("update retrieval_ab_logs set injected = true")
    found = store.ask(Coverage(SCOPES["days"]))
    last = found[found["step"] == found["step"].max() - 1]
    assert (len(last), int(last["injected"].sum()), int(last["stored"].sum())) == (30, 0, 60)
    assert last[["all_injected", "all_stored", "names"]].drop_duplicates().to_numpy().tolist() == [[5, 65, 35]]


class TestSteps:
    @pytest.mark.parametrize(
        ("days", "columns", "last"), [(7, 7, 1), (14, 14, 1), (30, 5, 2), (90, 13, 6), (366, 14, 2)]
    )
    def test_a_window_is_cut_into_few_columns_and_none_is_left_out(self, days: int, columns: int, last: int) -> None:
        scope = Scope.of_days(EVERYTHING, TODAY - timedelta(days=days - 1), TODAY)
        found = steps(scope)
        assert (len(found), (found[-1][1] - found[-1][0]).days) == (columns, last)
        assert (found[0][0], found[-1][1]) == (scope.since, scope.until)
        assert all(one[1] == other[0] for one, other in pairwise(found))


def test_a_list_is_as_long_as_asked(store: Store, owner: Owner) -> None:
    plant(owner, 4)
    whole = store.ask(TopObservations(ONE, "most"))["id"].tolist()
    assert store.ask(TopObservations(ONE, "most", shown=3))["id"].tolist() == whole[:3]
    assert len(whole) == SHOWN


def test_nothing_of_another_organization_is_listed(store: Store, owner: Owner) -> None:
    plant(owner, 3, size=30)
    mine = Scope.of_days(Reach.of(frozenset({"org_a"})), FIRST, TODAY)
    for kind in get_args(Kind):
        assert set(store.ask(TopObservations(mine, kind))["org_id"]) <= {"org_a"}
    for by in get_args(By):
        assert set(store.ask(Coverage(mine, by))["org_id"]) == {"org_a"}


def test_an_empty_store_has_no_rows(store: Store, owner: Owner) -> None:
    sample.add_organization(owner, "org_a")
    assert store.ask(BudgetUse(ONE)).empty
    assert store.ask(Coverage(ONE)).empty
    assert all(store.ask(TopObservations(ONE, kind)).empty for kind in get_args(Kind))
