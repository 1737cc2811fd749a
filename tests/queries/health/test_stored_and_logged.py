"""Health's counts against an answer formed with pandas from whole tables, and planted facts."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from queries.health.logged import LogIntegrity, LostRetrievals
from queries.health.passes import Aggregated, Passes
from queries.health.stored import Duplicates, Usage, VectorGaps, Weights
from queries.scope import EVERYTHING, Reach, Scope
from queries.shape import LogShape, log_shape
from tests import sample
from tests.health_store import NOW, frames, inside, plant, plant_elsewhere

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Question, Store

    Owner = psycopg.Connection[Any]

TODAY = NOW.date()
FIRST = TODAY - timedelta(days=29)
ALL = 0.999999  # of the pages: every one of so few
UNINDEXED = LogShape(by_observation=False)
SCOPES = {
    "all": Scope.of_days(EVERYTHING, FIRST, TODAY),
    "one": Scope.of_days(EVERYTHING, FIRST, TODAY, "org_a"),
    "project": Scope.of_days(EVERYTHING, FIRST, TODAY, "org_b", "api"),
    "week": Scope.of_days(Reach.of(frozenset({"org_a", "org_b"})), TODAY - timedelta(days=6), TODAY),
    "year": Scope.of_days(EVERYTHING, TODAY - timedelta(days=365), TODAY, "org_a"),
}


def slowly(owner: Owner, scope: Scope) -> dict[str, dict[Any, dict[str, int]]]:
    """Counts by question and organization, one observation or retrieval at a time.

    A project's observations are read by every session of their organization, and embedded by its one model.
    """
    tables, every = frames(owner, scope), frames(owner, replace(scope, project=None))
    stored, everyones = (each[each["status"] == "active"] for each in (tables["observations"], every["observations"]))
    by_then = every["retrieval_ab_logs"]
    by_then = by_then[by_then["created_at"] < scope.until]
    retrieved = {key: max(rows) for key, rows in by_then.groupby(["org_id", "observation_id"])["created_at"]}
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
        common = full.reindex(everyones[everyones["org_id"] == org]["id"]).dropna().value_counts()
        usual = min(common[common == common.max()].index)
        found["VectorGaps"][org] = {
            "embeddable": len(rows),
            "vectorless": len(sizes) - len(known),
            "other_dimension": sum(size != usual for size in known),
        }
        counts = {"settled": 0, "never": 0, "kept": len(rows), "stale": 0}
        for row in rows.to_dict("records"):
            reads = [] if pd.isna(row["last_accessed_at"]) else [row["last_accessed_at"]]
            reads += [retrieved[org, row["id"]]] if (org, row["id"]) in retrieved else []
            old = row["created_at"] < scope.until - timedelta(days=7)
            counts["settled"] += old
            counts["never"] += old and not reads
            counts["stale"] += max([row["created_at"], *reads]) < scope.until - timedelta(days=90)
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


@pytest.mark.parametrize("seed", [1, 3])
def test_every_count_equals_the_slow_answer(store: Store, owner: Owner, seed: int) -> None:
    plant(owner, seed)
    plant_elsewhere(owner, seed)
    met: set[str] = set()
    for scope in SCOPES.values():
        expected = slowly(owner, scope)
        questions = (
            Duplicates(scope), Weights(scope), VectorGaps(scope), Usage(scope), LogIntegrity(scope),
            LostRetrievals(scope),
            # what is drawn is looked up one by one: here, all of it
            Duplicates(scope, share=ALL), Weights(scope, ALL), VectorGaps(scope, ALL), Usage(scope, share=ALL),
            LostRetrievals(scope, ALL),
            Usage(scope, UNINDEXED), Usage(scope, UNINDEXED, ALL),
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


def test_the_usual_dimension_is_the_organizations(store: Store, owner: Owner) -> None:
    """Its web has four vectors of 3; of its api's three, the two of 4 are of another, though most there are."""
    sample.add_organization(owner, "org_a")
    for number, (project, size) in enumerate([("web", 3)] * 4 + [("api", 3), ("api", 4), ("api", 4)]):
        (id_,) = sample.add_observations(owner, "org_a", 1, days_ago=number)
        owner.execute("update observations set project_id = %s where id = %s", (project, id_))
        owner.execute("insert into observation_embeddings values ('org_a', %s, 'full', %s)", (id_, str([1.0] * size)))
    api = replace(SCOPES["one"], project="api")
    assert answered(store, VectorGaps(api)) == {"org_a": {"embeddable": 3, "vectorless": 0, "other_dimension": 2}}
    assert answered(store, VectorGaps(SCOPES["one"]))["org_a"]["other_dimension"] == 2
    assert answered(store, VectorGaps(replace(api, project="gone"))) == {}


@pytest.mark.parametrize("share", [1.0, ALL], ids=["counted", "drawn"])
def test_texts_without_a_hash_repeat_none(store: Store, owner: Owner, share: float) -> None:
    """Three observations with the same hash, three with none: two are surplus."""
    sample.add_organization(owner, "org_a")
    sample.add_observations(owner, "org_a", 6)
    owner.execute("alter table observations alter content_hash drop not null")
    owner.execute("update observations set content_hash = case when content_hash < '3' then 'same' end")
    assert answered(store, Duplicates(SCOPES["one"], share=share)) == {"org_a": {"active": 6, "surplus": 2}}


class TestUsage:
    """One observation written 200 days ago, never accessed, and what the log has of it."""

    WEEK, YEAR = (Scope.of_days(EVERYTHING, TODAY - timedelta(days=days - 1), TODAY, "org_a") for days in (7, 366))

    @pytest.mark.parametrize("scope", [WEEK, YEAR], ids=["week", "year"])
    @pytest.mark.parametrize(
        ("days", "expected"), [(None, (1, 1)), (3, (0, 0)), (30, (0, 0)), (88, (0, 0)), (91, (0, 1)), (180, (0, 1))]
    )
    def test_it_is_the_same_whatever_the_window(
        self, store: Store, owner: Owner, scope: Scope, days: int | None, expected: tuple[int, int]
    ) -> None:
        sample.add_organization(owner, "org_a")
        ids = sample.add_observations(owner, "org_a", 1, days_ago=200)
        if days is not None:
            sample.add_retrieval(owner, "org_a", [(0, 0)], name="r", days_ago=days, observations=ids)
        for question in (Usage(scope), Usage(scope, share=ALL), Usage(scope, UNINDEXED)):
            assert answered(store, question) == {
                "org_a": {"settled": 1, "never": expected[0], "kept": 1, "stale": expected[1]}
            }

    @pytest.mark.parametrize("project", [None, "web"])
    def test_a_session_of_no_project_or_another_reads_it_too(
        self, store: Store, owner: Owner, project: str | None
    ) -> None:
        sample.add_organization(owner, "org_a")
        ids = sample.add_observations(owner, "org_a", 1, days_ago=200)
        sample.add_retrieval(owner, "org_a", [(0, 0)], name="r", observations=ids)
        owner.execute("update retrieval_ab_logs set project_id = %s", (project,))
        found = answered(store, Usage(replace(self.WEEK, project="api")))
        assert found == {"org_a": {"settled": 1, "never": 0, "kept": 1, "stale": 0}}

    def test_however_long_the_log_each_is_one_look_into_its_index(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        sample.add_observations(owner, "org_a", 300, days_ago=200)
        owner.execute(
            """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, query_text, observation_id,
                 unweighted_rank, weighted_rank, weighting_enabled, created_at)
               select 'org_a', gen_random_uuid(), 's', 'q', gen_random_uuid(), 0, 0, true, now() - n * interval '1 hour'
                 from generate_series(1, 20000) n"""
        )
        owner.execute("analyze")
        for question in (Usage(self.WEEK), Usage(self.WEEK, share=ALL)):
            assert "logs_observation" in _plan(store, question)
            assert "Seq Scan on retrieval_ab_logs" not in _plan(store, question)
            assert answered(store, question)["org_a"]["never"] == 300
        owner.execute("drop index logs_observation")
        with store.reading(EVERYTHING) as connection:
            shape = log_shape(connection)
        assert not shape.by_observation
        # read once and not once for each
        assert "Hash" in _plan(store, Usage(self.WEEK, shape))
        assert "SubPlan" not in _plan(store, Usage(self.WEEK, shape))
        assert answered(store, Usage(self.WEEK, shape))["org_a"]["never"] == 300
        for keys in ("observation_id", "org_id, observation_id"):
            owner.execute(f"create index another on retrieval_ab_logs ({keys})")
            with store.reading(EVERYTHING) as connection:
                assert log_shape(connection).by_observation
            owner.execute("drop index another")


def _plan(store: Store, question: Question) -> str:
    asked: Any = question.statement().compile(store.reader, compile_kwargs={"render_postcompile": True})  # type: ignore[attr-defined]
    with store.reading(EVERYTHING) as connection:
        return "\n".join(row[0] for row in connection.exec_driver_sql(f"explain {asked}", dict(asked.params)))
