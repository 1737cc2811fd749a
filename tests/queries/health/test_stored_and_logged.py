"""Health's counts against an answer formed with pandas from whole tables, and planted facts."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from queries.health.logged import LogIntegrity, LostRetrievals
from queries.health.passes import Aggregated, Passes
from queries.health.stored import Duplicates, Usage, VectorGaps, Weights
from queries.scope import EVERYTHING, Reach, Scope
from tests import sample
from tests.health_store import NOW, frames, inside, plant

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Question, Store

    Owner = psycopg.Connection[Any]

TODAY = NOW.date()
FIRST = TODAY - timedelta(days=29)
ALL = 0.999999  # of the pages: every one of so few
SCOPES = {
    "all": Scope.of_days(EVERYTHING, FIRST, TODAY),
    "one": Scope.of_days(EVERYTHING, FIRST, TODAY, "org_a"),
    "project": Scope.of_days(EVERYTHING, FIRST, TODAY, "org_b", "api"),
    "week": Scope.of_days(Reach.of(frozenset({"org_a", "org_b"})), TODAY - timedelta(days=6), TODAY),
}


def slowly(tables: dict[str, pd.DataFrame], scope: Scope) -> dict[str, dict[Any, dict[str, int]]]:
    """Counts by question and organization, one observation or retrieval at a time."""
    stored = tables["observations"]
    stored = stored[stored["status"] == "active"]
    log, given = inside(tables["retrieval_ab_logs"], scope), inside(tables["context_injection_logs"], scope)
    found: dict[str, dict[Any, dict[str, int]]] = {
        name: {} for name in ("Duplicates", "Weights", "VectorGaps", "Usage", "LogIntegrity", "LostRetrievals")
    }
    for org, rows in stored.groupby("org_id"):
        texts = {tuple(map(str, row)) for row in rows[["project_id", "agent_id", "content_hash"]].to_numpy()}
        found["Duplicates"][org] = {"active": len(rows), "surplus": len(rows) - len(texts)}
        finite = [weight for weight in rows["weight"] if math.isfinite(weight)]
        found["Weights"][org] = {
            "weighed": len(finite),
            "collapsed": sum(weight < 0.2 for weight in finite),
            "unusable_weights": len(rows) - len(finite),
        }
        vectors = tables["observation_embeddings"]
        full = vectors[(vectors["route"] == "full") & (vectors["org_id"] == org)].set_index("observation_id")["size"]
        sizes = [full.get(id_) for id_ in rows["id"]]
        known = [size for size in sizes if size is not None]
        usual = max((known.count(size) for size in set(known)), default=0)
        found["VectorGaps"][org] = {
            "embeddable": len(rows),
            "vectorless": len(sizes) - len(known),
            "other_dimension": len(known) - usual,
        }
        seen = set(log[log["org_id"] == org]["observation_id"])
        counts = {"settled": 0, "never": 0, "kept": len(rows), "stale": 0}
        for row in rows.to_dict("records"):
            read = None if pd.isna(row["last_accessed_at"]) else row["last_accessed_at"]
            old = row["created_at"] < scope.until - timedelta(days=7)
            counts["settled"] += old
            counts["never"] += old and read is None and row["id"] not in seen
            last = row["created_at"] if read is None else max(read, row["created_at"])
            counts["stale"] += last < scope.until - timedelta(days=90) and row["id"] not in seen
        found["Usage"][org] = counts
    for org, rows in log.groupby("org_id"):
        counts = dict.fromkeys(
            ("retrievals", "drawn", "log_rows", "complete", "sound", "lopsided", "truncated", "repeated", "unusable"), 0
        )
        for _, each in rows.groupby("retrieval_id"):
            size = len(each)
            whole = all(sorted(each[name]) == list(range(size)) for name in ("unweighted_rank", "weighted_rank"))
            twice = each["observation_id"].nunique() < size
            bad = int((~each["relevance_score"].map(math.isfinite)).sum())
            counts["retrievals"] += 1
            counts["drawn"] += 1
            counts["log_rows"] += size
            counts["complete"] += whole
            counts["sound"] += whole and not twice and not bad
            counts["lopsided"] += (each["unweighted_rank"] - each["weighted_rank"]).sum() != 0
            counts["repeated"] += twice
            counts["unusable"] += bad
        found["LogIntegrity"][org] = counts
    everything = set(tables["retrieval_ab_logs"]["retrieval_id"])
    for org, rows in given[given["candidates"] > 0].groupby("org_id"):
        lost = sum(id_ not in everything for id_ in rows["retrieval_id"])
        found["LostRetrievals"][org] = {"injections": len(rows), "lost": lost}
    return found


def answered(store: Store, question: Question) -> dict[str, dict[str, int]]:
    frame = store.ask(question).set_index("org_id").select_dtypes("Int64")
    return {
        str(org): {str(name): int(value) for name, value in row.items()} for org, row in frame.to_dict("index").items()
    }


@pytest.mark.parametrize("seed", [1, 2])
def test_every_count_equals_the_slow_answer(store: Store, owner: Owner, seed: int) -> None:
    plant(owner, seed)
    met: set[str] = set()
    for scope in SCOPES.values():
        expected = slowly(frames(owner, scope), scope)
        questions = (
            Duplicates(scope), Weights(scope), VectorGaps(scope), Usage(scope), LogIntegrity(scope),
            LostRetrievals(scope),
            # what is drawn is looked up one by one: here, all of it
            Duplicates(scope, share=ALL), Weights(scope, ALL), VectorGaps(scope, ALL), Usage(scope, share=ALL),
            LostRetrievals(scope, ALL),
        )  # fmt: skip
        for question in questions:
            name = type(question).__name__
            assert answered(store, question) == expected[name], (name, scope)
            met |= {key for row in expected[name].values() for key, value in row.items() if value}
    # truncated needs pools of 20, which have tests of their own; everything else was planted
    assert met >= {"surplus", "collapsed", "unusable_weights", "vectorless", "other_dimension", "never", "stale"}
    assert met >= {"lopsided", "repeated", "unusable", "lost", "sound"}


def test_an_empty_store_gives_typed_frames_without_rows(store: Store) -> None:
    for question in (
        Duplicates(SCOPES["all"]), Weights(SCOPES["all"]), VectorGaps(SCOPES["all"]), Usage(SCOPES["all"]),
        LogIntegrity(SCOPES["all"]), LostRetrievals(SCOPES["all"]), Passes(SCOPES["all"]),
        Aggregated(SCOPES["all"]),
    ):  # fmt: skip
        found = store.ask(question)
        assert found.empty
        assert found["org_id"].dtype == "string"


def test_nothing_of_another_organization_counts(store: Store, owner: Owner) -> None:
    plant(owner, 3, size=30)
    mine = Scope.of_days(Reach.of(frozenset({"org_a"})), FIRST, TODAY)
    for kind in (Duplicates, Weights, VectorGaps, Usage, LogIntegrity, LostRetrievals, Passes, Aggregated):
        assert set(store.ask(kind(mine))["org_id"]) == {"org_a"}


def test_a_tie_between_dimensions_counts_one_side(store: Store, owner: Owner) -> None:
    """Two vectors of 3 and two of 4: whichever is taken as usual, two are of another."""
    sample.add_organization(owner, "org_a")
    for number, size in enumerate((3, 3, 4, 4)):
        (id_,) = sample.add_observations(owner, "org_a", 1, days_ago=number)
        owner.execute("insert into observation_embeddings values ('org_a', %s, 'full', %s)", (id_, str([1.0] * size)))
    found = store.ask(VectorGaps(SCOPES["one"])).iloc[0]
    assert (found["embeddable"], found["vectorless"], found["other_dimension"]) == (4, 0, 2)
