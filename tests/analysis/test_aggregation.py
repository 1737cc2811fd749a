"""One pass over a scope of a real store, beside what the library says of the same texts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from analysis import aggregation
from analysis.aggregation import aggregate
from queries import aggregation_input
from queries.aggregation_input import AggregationScope
from queries.aggregation_runs import StandingRuns, claimed
from ranking import cluster_near_duplicates
from tests import sample
from tests.scopes import ALIKE, add_alike, add_observation

if TYPE_CHECKING:
    from uuid import UUID

    import psycopg

    from analysis.aggregation import Pass
    from queries.engine import Store

    Owner = psycopg.Connection[Any]

API = AggregationScope("org_a", "api")
# long enough for one word to change no more than three bits
RETRY = (
    "the billing worker must {} retry a failed charge without an idempotency key because the provider does not "
    "deduplicate requests and customers were charged twice in march which took the finance team four days to untangle"
)
CLUSTERS = """select observation_id, cluster, canonical, disputed, contradicts, corroboration_score, agents, sessions,
                diameter from rankscope.clusters order by run_id, observation_id"""


@pytest.fixture(autouse=True)
def _organization(owner: Owner) -> None:
    sample.add_organization(owner, "org_a")


def made(store: Store, scope: AggregationScope = API) -> Pass:
    found = aggregate(store, scope)
    assert found is not None
    return found


def stored(store: Store, found: Pass) -> int:
    assert store.writer is not None
    with claimed(store, found.scope) as connection:
        assert connection is not None
        return found.change().apply(connection)


def standing(store: Store, scope: AggregationScope = API) -> int | None:
    with store.reading(scope.reach) as snapshot:
        run = StandingRuns.of(scope).ask(snapshot).get(scope)
    return None if run is None else run.id


class TestResult:
    def test_three_alike_by_three_agents(self, store: Store, owner: Owner) -> None:
        add_alike(owner, "org_a")
        result = made(store).result
        assert (len(result.clusters), result.corroborated_count) == (1, 3)
        assert result.clusters.corroboration_score.tolist() == [2]
        assert result.clusters.agents is not None
        assert result.clusters.agents.tolist() == [3]
        assert result.contradictions == ()
        assert result.elapsed_ms > 0

    def test_it_is_what_the_library_says_of_the_same_rows(self, store: Store, owner: Owner) -> None:
        texts = [f"{ALIKE[i % 3]} {'twice ' * (i // 30)}" for i in range(90)]
        weights = [1 - (i % 7) / 10 for i in range(90)]
        ids = [
            str(
                add_observation(
                    owner, "org_a", str(i), text, weight=weight, created_at=sample.TODAY - timedelta(hours=i)
                )
            )
            for i, (text, weight) in enumerate(zip(texts, weights, strict=True))
        ]
        created = np.array(
            [(sample.TODAY - timedelta(hours=i)).replace(tzinfo=None) for i in range(90)], "datetime64[us]"
        )
        expected = cluster_near_duplicates({"ids": ids, "content": texts, "weight": weights, "created_at": created})
        found = made(store).result.clusters
        assert found.ids is not None
        assert found.ids.tolist() == ids
        assert found.cluster.tolist() == expected.cluster.tolist()
        assert found.canonical.tolist() == expected.canonical.tolist()

    def test_a_member_that_contradicts_its_canonical_disputes_the_cluster(self, store: Store, owner: Owner) -> None:
        older = add_observation(owner, "org_a", "old", RETRY.format("always"), weight=1.0)
        newer = add_observation(owner, "org_a", "new", RETRY.format("never"), weight=0.9, created_at=sample.TODAY)
        result = made(store).result
        assert [(conflict.older, conflict.newer) for conflict in result.contradictions] == [(str(older), str(newer))]
        assert result.clusters.disputed.tolist() == [True]

    def test_an_empty_scope_has_an_empty_result(self, store: Store) -> None:
        found = made(store)
        assert (len(found.result.clusters), found.result.contradictions, found.result.corroborated_count) == (0, (), 0)
        run = stored(store, found)
        assert standing(store) == run

    def test_observations_without_a_project_are_a_scope_of_their_own(self, store: Store, owner: Owner) -> None:
        add_alike(owner, "org_a", None)
        add_alike(owner, "org_a", "api")
        none = made(store, AggregationScope("org_a", None))
        assert none.seen.active == 4
        run = stored(store, none)
        assert standing(store, AggregationScope("org_a", None)) == run
        assert standing(store) is None

    def test_archived_rows_and_other_organizations_have_no_voice(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_b")
        add_observation(owner, "org_a", "one", ALIKE[0])
        add_observation(owner, "org_a", "two", ALIKE[1], status="archived")
        add_observation(owner, "org_b", "three", ALIKE[2])
        add_observation(owner, "org_a", "four", ALIKE[2], "web")
        assert made(store).result.corroborated_count == 0

    def test_of_more_than_the_limit_the_newest_and_it_says_so(
        self, store: Store, owner: Owner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for module in (aggregation, aggregation_input):
            monkeypatch.setattr(module, "LIMIT", 2)
        for i in range(4):
            add_observation(owner, "org_a", str(i), ALIKE[0], created_at=sample.TODAY - timedelta(hours=i))
        found = made(store)
        assert (found.result.corroborated_count, found.result.clusters.truncated) == (2, True)
        assert found.in_words().startswith("1 clusters with 2 of the newest 2 of 4 observations, 0 contradictions")

    @pytest.mark.parametrize("weight", ["nan", "infinity", "-infinity"])
    def test_a_weight_that_is_no_number_is_set_apart_and_counted(self, store: Store, owner: Owner, weight: str) -> None:
        add_observation(owner, "org_a", "odd", ALIKE[0], weight=weight)
        add_observation(owner, "org_a", "one", ALIKE[0])
        add_observation(owner, "org_a", "two", ALIKE[1])
        found = made(store)
        assert (found.set_apart, found.result.corroborated_count) == (1, 2)
        assert "1 left out for a weight that is no number" in found.in_words()
        stored(store, found)
        assert owner.execute("select observations, set_apart from rankscope.aggregation_runs").fetchall() == [(2, 1)]

    @pytest.mark.parametrize("moment", ["infinity", "-infinity"])
    def test_a_contradiction_with_one_that_has_no_time(self, store: Store, owner: Owner, moment: str) -> None:
        for name, word, at in (("1", "always", moment), ("2", "never", sample.TODAY)):
            text = f"{word} run the linter before a push to the shared branch"
            add_observation(owner, "org_a", name, text, created_at=at)
        found = made(store)
        assert len(found.result.contradictions) == 1
        stored(store, found)
        assert owner.execute("select severity between 0 and 100 from rankscope.contradictions").fetchall() == [(True,)]

    def test_the_organization_s_own_opposites(self, store: Store, owner: Owner) -> None:
        add_observation(owner, "org_a", "one", "the cache layer in front of search is spicy on mondays")
        add_observation(
            owner, "org_a", "two", "the cache layer in front of search is mild on mondays", created_at=sample.TODAY
        )
        add_observation(owner, "org_a", "3", "always run the linter before a push to the shared branch")
        add_observation(
            owner, "org_a", "4", "never run the linter before a push to the shared branch", created_at=sample.TODAY
        )
        assert [found.kind for found in made(store).result.contradictions] == ["opposition"]
        owner.execute("insert into rankscope.opposition_pairs values ('org_a', 'spicy', 'mild', 'someone', now())")
        (found,) = made(store).result.contradictions
        assert {word.text for word in found.evidence} == {"spicy", "mild"}


class TestStored:
    def test_rows_as_the_tables_have_them(self, store: Store, owner: Owner) -> None:
        ids = add_alike(owner, "org_a")
        owner.execute("update observations set weight = 0.9 where id <> %s", (ids[1],))
        run = stored(store, made(store))
        expected = [(id_, 0, id_ == ids[1], False, False, 2, 3, 1, 0) for id_ in sorted(ids[:3])]
        assert owner.execute(CLUSTERS).fetchall() == expected
        columns = (
            "id, project_id, state, active, observations, set_apart, hashed, clusters, contradictions, corroborated"
        )
        found = owner.execute(f"select {columns} from rankscope.aggregation_runs".encode()).fetchall()  # noqa: S608 - ours
        assert found == [(run, "api", "done", 4, 4, 0, 4, 1, 0, 3)]

    def test_a_contradiction_with_its_evidence(self, store: Store, owner: Owner) -> None:
        older = add_observation(owner, "org_a", "one", "always run the linter before a push to the shared branch")
        newer = add_observation(
            owner, "org_a", "two", "never run the linter before a push to the shared branch", created_at=sample.TODAY
        )
        found = made(store)
        stored(store, found)
        (conflict,) = found.result.contradictions
        ((row),) = owner.execute(
            """select older, newer, kind, fingerprint, rule, overlap, severity, parts, evidence, place
                 from rankscope.contradictions"""
        ).fetchall()
        assert row[:7] == (
            older, newer, "opposition", conflict.fingerprint, conflict.rule, conflict.overlap, conflict.severity,
        )  # fmt: skip
        assert row[7]["recency"] == conflict.parts.recency
        assert [word["text"] for word in row[8]] == [word.text for word in conflict.evidence]
        assert row[9] == 0

    def test_the_same_version_is_not_looked_at_twice(self, store: Store, owner: Owner) -> None:
        add_alike(owner, "org_a")
        first = made(store)
        assert aggregate(store, API, unless=first.seen.version) is None
        add_observation(owner, "org_a", "more", "another one")
        assert aggregate(store, API, unless=first.seen.version) is not None

    def test_old_runs_go_and_the_one_before_stays(self, store: Store, owner: Owner) -> None:
        add_alike(owner, "org_a")
        runs = [stored(store, made(store)) for _ in range(4)]
        kept = [run for (run,) in owner.execute("select id from rankscope.aggregation_runs order by id").fetchall()]
        assert kept == runs[-2:]
        assert standing(store) == runs[-1]
        assert owner.execute("select distinct run_id from rankscope.clusters order by 1").fetchall() == [
            (run,) for run in runs[-2:]
        ]


class TestHashes:
    def fresh(self, store: Store) -> set[str]:
        found = made(store)
        stored(store, found)
        return {str(row["observation_id"]) for row in found.simhashes}

    def test_only_what_is_new_or_changed_is_hashed(self, store: Store, owner: Owner) -> None:
        ids = [str(id_) for id_ in add_alike(owner, "org_a")]
        assert self.fresh(store) == set(ids)
        assert self.fresh(store) == set()
        added = add_observation(owner, "org_a", "more", "another text altogether")
        owner.execute("update observations set content = 'quite another text' where id = %s", (ids[0],))
        assert self.fresh(store) == {str(added), ids[0]}

    def test_what_was_kept_is_used(self, store: Store, owner: Owner) -> None:
        """A fingerprint that is not the text's own shows that the text was not read again."""
        ids = add_alike(owner, "org_a")
        self.fresh(store)
        self.tamper(owner, ids[0])
        assert made(store).result.corroborated_count == 2

    @staticmethod
    def tamper(owner: Owner, observation: UUID) -> None:
        owner.execute("update rankscope.simhashes set simhash = ~simhash where observation_id = %s", (observation,))

    def test_a_text_that_says_nothing_stays_no_evidence(self, store: Store, owner: Owner) -> None:
        for name in ("one", "two"):
            add_observation(owner, "org_a", name, " . ! ")
        for _ in range(2):
            assert made(store).result.corroborated_count == 0
            self.fresh(store)
        assert owner.execute("select simhash, tokens from rankscope.simhashes").fetchall() == [(0, 0)] * 2

    def test_those_of_deleted_observations_go(self, store: Store, owner: Owner) -> None:
        ids = add_alike(owner, "org_a")
        self.fresh(store)
        owner.execute("delete from observations where id = %s", (ids[0],))
        self.fresh(store)
        assert owner.execute("select count(*) from rankscope.simhashes").fetchone() == (3,)
