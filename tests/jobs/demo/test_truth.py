"""What was planted in the demo store, and what the library finds of it."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sqlalchemy import make_url

import ranking
from jobs.__main__ import run
from jobs.demo.history import replay
from jobs.demo.outcomes import judge
from jobs.demo.recall import best
from jobs.demo.rows import Records
from jobs.demo.sizes import SMALL
from jobs.demo.story import tell
from jobs.demo.texts import organizations
from jobs.demo.vectors import embed
from queries import schema
from queries.engine import Store, make_engine
from queries.scope import Reach
from ranking import cluster_near_duplicates, top_k
from ranking.simhash import simhash64
from tests.jobs.conftest import NOW
from tests.jobs.stores import rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from jobs.demo.history import History
    from jobs.demo.story import Story
    from jobs.demo.timeline import Placed
    from tests.conftest import Cluster

PairOfIds = frozenset["UUID"]
PAIRS = """
  select count(*) from rankscope.contradictions c join demo.{} t using (org_id)
   where least(c.older, c.newer) = least(t.older, t.newer) and greatest(c.older, c.newer) = greatest(t.older, t.newer)
"""
FAMILIES = """
  with first as (
    select distinct on (f.org_id, f.family) f.org_id, f.family, c.run_id, c.cluster
      from demo.families f left join rankscope.clusters c using (org_id, observation_id)
     order by f.org_id, f.family, f.observation_id)
  select count(*), count(*) filter (where c.cluster = first.cluster)
    from demo.families f join first using (org_id, family)
    left join rankscope.clusters c
           on c.org_id = f.org_id and c.observation_id = f.observation_id and c.run_id = first.run_id
"""


def scopes(stories: list[Story]) -> Iterator[tuple[Story, list[Placed]]]:
    """What one pass looks at: the memories of one project."""
    for story in stories:
        for project, _ in story.org.projects:
            yield story, [entry for entry in story.placed if entry.memory.project == project]


def columns(placed: list[Placed]) -> dict[str, Any]:
    return {
        "ids": [entry.id for entry in placed],
        "content": [entry.memory.text for entry in placed],
        "created_at": np.array([entry.created.replace(tzinfo=None) for entry in placed], dtype="datetime64[us]"),
        "agent_id": [entry.agent for entry in placed],
    }


class TestFamilies:
    def test_precision_and_recall(self, stories: list[Story]) -> None:
        planted: set[PairOfIds] = set()
        by_hash: set[PairOfIds] = set()  # a chain and a dispute are made with the hash that finds them
        found: set[PairOfIds] = set()
        for story in stories:
            for family in story.families:
                pairs = {frozenset(pair) for pair in combinations(map(story.id, family.members), 2)}
                planted |= pairs
                by_hash |= pairs if family.kind in ("chained", "disputed") else set()
        for _, placed in scopes(stories):
            clusters = cluster_near_duplicates(columns(placed))
            for number in range(len(clusters)):
                members = [placed[row].id for row in clusters.members(number).tolist()]
                found |= {frozenset(pair) for pair in combinations(members, 2)}
        assert len(planted) > 300
        for told, seen in ((planted, found), (planted - by_hash, found - by_hash)):
            assert len(seen & told) / len(seen) >= 0.95
            assert len(seen & told) / len(told) >= 0.85

    def test_the_hash_has_no_say_in_who_belongs(self, stories: list[Story]) -> None:
        """Some retellings lie beyond 3 bits: were they left out, recall would be 1 whatever the hash is worth."""
        hashes = [
            simhash64([memory.text for memory in family.members])
            for story in stories
            for family in story.families
            if family.kind in ("one_agent", "several_agents")
        ]
        apart = [np.bitwise_count(each[1:] ^ each[0]) for each in hashes]
        assert any((bits > 3).any() for bits in apart)

    def test_every_kind_and_size(self, stories: list[Story]) -> None:
        families = [family for story in stories for family in story.families]
        kinds = {family.kind for family in families}
        assert kinds >= {"one_agent", "several_agents", "chained", "disputed"}
        assert {len(family.members) for family in families} >= {2, 3, 4, 5, 9}
        assert max(len(family.members) for family in families) == 9

    def test_agents_and_chains_are_as_their_kind_says(self, stories: list[Story]) -> None:
        compared = 0
        for story, placed in scopes(stories):
            clusters = cluster_near_duplicates(columns(placed))
            row_of = {entry.id: row for row, entry in enumerate(placed)}
            assert clusters.agents is not None
            for family in story.families:
                rows_of = {row_of[story.id(memory)] for memory in family.members if story.id(memory) in row_of}
                number = clusters.cluster[min(rows_of)] if rows_of else -1
                if number < 0 or rows_of != set(clusters.members(number).tolist()):
                    continue
                compared += 1
                assert family.kind != "one_agent" or clusters.agents[number] == 1
                assert family.kind != "several_agents" or clusters.agents[number] >= 2
                assert family.kind != "chained" or clusters.chained[number]
        assert compared >= 0.85 * sum(len(story.families) for story in stories)


class TestContradictions:
    def test_every_kind_and_the_newer_is_newer(self, stories: list[Story]) -> None:
        pairs = [(story, pair) for story in stories for pair in story.contradictions]
        assert {pair.kind for _, pair in pairs} == {"value", "opposition", "negation", "superseded"}
        assert len(pairs) > 150
        for story, pair in pairs:
            created = {entry.id: entry.created for entry in story.placed}
            assert created[story.id(pair.older)] < created[story.id(pair.newer)]

    def test_every_kind_of_trap(self, stories: list[Story]) -> None:
        kinds = {pair.kind for story in stories for pair in story.traps}
        assert kinds == {"clock", "numeral", "unit", "word_order", "tense", "detail", "environment", "plan"}

    def test_all_but_eight_are_found_no_trap_and_nothing_else(self, stories: list[Story]) -> None:
        planted, traps = (
            {
                frozenset((story.id(pair.older), story.id(pair.newer))): pair.kind
                for story in stories
                for pair in getattr(story, name)
            }
            for name in ("contradictions", "traps")
        )
        found: set[PairOfIds] = set()
        for _, placed in scopes(stories):
            detected = ranking.detect_contradictions(columns(placed), now=np.datetime64(NOW.replace(tzinfo=None)))
            found |= {frozenset((each.older, each.newer)) for each in detected}
        assert found.isdisjoint(traps)
        assert found <= planted.keys()
        missed = Counter(planted[pair] for pair in planted.keys() - found)
        assert missed == {"value": 5, "negation": 2, "opposition": 1}  # the eight that docs/pages/drift-alerts.md names


class TestReplay:
    def test_the_same_story_gives_the_same_log(self) -> None:
        org = organizations()[0]
        runs = []
        for _ in range(2):
            story = tell(org, SMALL, NOW, "tide")
            vectors = embed([entry.memory.text for entry in story.placed])
            runs.append(list(Records(replay(story, vectors), vectors, [], vectors[:0]).of(schema.retrieval_ab_logs)))
        assert len(runs[0]) > 1_000
        assert runs[0] == runs[1]

    @pytest.mark.parametrize("count", [20, 40])
    def test_the_best_are_those_of_the_library_however_many_are_equal(self, count: int) -> None:
        random = np.random.default_rng(3)
        for columns_, values in ((10, 4), (45, 3), (85, 3), (200, 2), (200, 50), (2_999, 3), (3_000, 10_000)):
            scores = (random.integers(0, values, (30, columns_)) / values).astype(np.float32)
            ids = random.permutation(columns_)
            by_id = np.argsort(ids)
            for row, found in zip(scores, best(scores, ids, count), strict=True):
                assert ids[found].tolist() == sorted(top_k(row[by_id], count).tolist())


class TestTables:
    def test_the_truth_names_observations_that_are_there(self, filled: str) -> None:
        for table, column in (
            ("families", "observation_id"), ("contradictions", "older"), ("contradictions", "newer"),
            ("traps", "older"), ("traps", "newer"), ("wrong", "observation_id"), ("lost_rows", "observation_id"),
        ):  # fmt: skip
            stray = f"""select count(*) filter (where o.id is null), count(*) from demo.{table} t
                         left join observations o on o.org_id = t.org_id and o.id = t.{column}"""  # noqa: S608
            ((missing, all_),) = rows(filled, stray)
            assert (missing, all_ > 0) == (0, True)

    def test_the_read_login_sees_its_own_organization_and_no_other(self, filled: str) -> None:
        store = Store(make_engine(filled.replace("postgres@", "dash_read@"), name="test"), None)
        try:
            for reach, expected in ((Reach(("org_alder",)), {"org_alder"}), (Reach(("org_newfound",)), set())):
                with store.reading(reach) as connection:
                    found = connection.exec_driver_sql("select distinct org_id from demo.families").scalars()
                    assert set(found) == expected
        finally:
            store.close()


class TestOutcomes:
    """Places in the block, best first: whether each is about the task, related to it, and wrong."""

    def test_something_right_about_the_task_is_accepted(self) -> None:
        verdict = judge([False, True], [False, True], [False, False])
        assert (verdict.outcome, verdict.helpful, verdict.misleading) == ("accepted", (1,), ())

    def test_wrong_advice_in_front_is_rejected_and_behind_right_advice_rework(self) -> None:
        assert judge([True, True], [True, True], [True, False]).outcome == "rejected"
        assert judge([True, True], [True, True], [False, True]).outcome == "rework"
        assert judge([True], [True], [True]).outcome == "rejected"

    def test_wrong_advice_about_something_else_misleads_nobody(self) -> None:
        assert judge([True, False], [True, True], [False, True]).outcome == "accepted"

    def test_four_related_memories_make_up_for_none_about_the_task(self) -> None:
        assert judge([False] * 4, [True] * 4, [False] * 4).outcome == "accepted"
        assert judge([False] * 4, [True] * 3 + [False], [False] * 4).outcome == "rework"
        assert judge([False] * 4, [True] * 4, [False] * 3 + [True]).outcome == "rework"

    def test_nothing_to_go_by_is_rework(self) -> None:
        assert judge([], [], []).outcome == "rework"


def accepted(history: History, newest: float, oldest: float) -> float:
    """The share of sessions accepted that began so many days ago."""
    begun = [
        ending.outcome == "accepted"
        for ending in history.endings.values()
        if NOW - timedelta(days=oldest) < ending.session.begin <= NOW - timedelta(days=newest)
    ]
    return sum(begun) / len(begun)


class TestEffect:
    def test_switching_weighting_off_shows(self, lived: dict[str, History]) -> None:
        """Quillworks switched off 40 days ago; Tidewater kept it on; Alder never had it."""
        flipped, on, off = (lived[f"org_{name}"] for name in ("quillworks", "tidewater", "alder"))
        assert accepted(flipped, 0, 25) < accepted(flipped, 40, 90) - 0.05
        assert accepted(on, 0, 40) > accepted(flipped, 0, 40) + 0.05
        assert accepted(on, 0, 40) > accepted(off, 0, 40) + 0.05

    def test_a_memory_that_is_down_costs_outcomes(self, lived: dict[str, History]) -> None:
        down = lived["org_lumenfield"]
        assert accepted(down, 42.1, 46.9) == 0
        assert accepted(down, 48, 90) > 0.7

    def test_wrong_memories_lose_weight_and_right_ones_keep_it(self, lived: dict[str, History]) -> None:
        for name in ("org_tidewater", "org_quillworks", "org_alder", "org_lumenfield"):
            history = lived[name]
            wrong = np.array([entry.memory.misleading for entry in history.story.placed])
            used = history.successes + history.failures > 0
            assert history.weights[wrong & used].mean() < history.weights[~wrong & used].mean() - 0.05


def test_a_pass_over_the_filled_store_finds_what_its_truth_names(
    cluster: Cluster, filled: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = cluster.create(make_url(filled).database)
    monkeypatch.setenv("DATABASE_URL", cluster.url("dash_read", copy))
    monkeypatch.setenv("RANKSCOPE_WRITE_URL", cluster.url("dash_write", copy))
    try:
        assert run(["aggregate"]) == 0, capsys.readouterr()
        asked = (
            "select count(*) from rankscope.contradictions",
            PAIRS.format("contradictions"),
            PAIRS.format("traps"),
            "select count(*) from demo.contradictions",
        )
        found, hits, traps, planted = (rows(cluster.url("postgres", copy), each)[0][0] for each in asked)
        assert traps == 0
        assert hits / found >= 0.95
        assert hits / planted >= 0.85
        # of every planted family, the members that lie in one cluster with its first
        ((members, together),) = rows(cluster.url("postgres", copy), FAMILIES)
        assert members > 20
        assert together / members >= 0.85
    finally:
        cluster.drop(copy)
