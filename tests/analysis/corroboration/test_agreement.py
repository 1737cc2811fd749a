"""Corroboration's figures against plain computations: planted statements, a small demo, and stores that are odd."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
import pytest
from psycopg.rows import dict_row

from analysis.corroboration.agreement import Agreement, SweepPoint, agree, disputes, whole_time
from analysis.corroboration.clustered import Clustered, Nearness, cliff, clustered
from analysis.corroboration.evidence import bits_of, hamming, nearest, word_diff
from analysis.corroboration.log import LoggedCandidates, logged_candidates
from analysis.corroboration.rows import cluster_rows, member_rows
from queries.scope import Reach, Scope
from ranking import classify, simhash64
from tests import sample
from tests.analysis.conftest import scope_of
from tests.analysis.corroboration.agreeing import COPIED, oracle, plant
from tests.memories import add_memory

if TYPE_CHECKING:
    from queries.engine import Store

    Owner = psycopg.Connection[Any]

ORG = "org_alder"
ROWS = "select id::text, project_id, agent_id, content from observations where org_id = %s and status = 'active'"


def scope(org: str = "org_a", project: str | None = None) -> Scope:
    return whole_time(Scope.of_days(Reach((org,)), sample.TODAY.date(), sample.TODAY.date(), org, project))


def clusters(seen: Clustered) -> set[frozenset[str]]:
    ids = seen.agreement.ids
    return {frozenset(ids[row] for row in seen.members(number)) for number in range(len(seen.clusters))}


@pytest.fixture(scope="module")
def told(demo_address: str) -> list[dict[str, Any]]:
    with psycopg.connect(demo_address, row_factory=dict_row) as connection:
        return connection.execute(ROWS, (ORG,)).fetchall()


@pytest.fixture(scope="module")
def agreement(demo: Store) -> Agreement:
    return agree(demo, whole_time(scope_of(ORG)))


class TestPlanted:
    @pytest.fixture
    def seen(self, store: Store, owner: Owner) -> Clustered:
        plant(owner)
        return clustered(agree(store, scope()), Nearness(bits=0), [])

    def test_clusters_are_one_project_s_and_need_words(self, seen: Clustered) -> None:
        ids = seen.agreement.ids
        assert [seen.agreement.ids[row][-1] for row in range(9)] == list("123456789")  # newest first
        assert clusters(seen) == {frozenset(ids[:3]), frozenset(ids[3:5])}

    def test_canonical_agents_sessions_and_both_boosts(self, seen: Clustered) -> None:
        first, second = cluster_rows(seen)
        # three copies: two others, worth 0.1 · log2(3); one other agent, worth 0.1 · log2(2); bob's weighs most
        assert first.canonical == seen.agreement.ids[1]
        assert (first.kind, first.size, first.agents, first.sessions, first.diameter) == ("independent", 3, 2, 3, 0.0)
        assert first.boost == pytest.approx(0.1 * math.log2(3))
        assert first.independent_boost == pytest.approx(0.1)
        # one agent twice: of equal weights the earliest speaks for both; alone it would earn nothing
        assert second.canonical == seen.agreement.ids[4]
        assert (second.kind, second.size, second.agents, second.sessions) == ("repeated", 2, 1, 1)
        assert second.boost == pytest.approx(0.1)
        assert second.independent_boost == 0

    def test_members_begin_with_the_canonical(self, seen: Clustered) -> None:
        rows = member_rows(seen, seen.members(cluster_rows(seen)[0].number))
        assert [(row.agent, row.canonical) for row in rows] == [("bob", True), ("ann", False), ("ann", False)]
        assert rows[0].created_at is not None
        assert (rows[0].weight, rows[0].session, rows[0].project) == (2.0, "s2", "api")

    def test_a_project_alone(self, store: Store, owner: Owner) -> None:
        plant(owner)
        found = clustered(agree(store, scope(project="web")), Nearness(), None)
        assert (len(found.agreement), len(found.clusters), found.disputed) == (1, 0, None)

    def test_boosted_retrievals_are_those_with_a_candidate_in_a_cluster(self, seen: Clustered) -> None:
        ids = seen.agreement.ids
        log = LoggedCandidates(
            (ids[0], ids[6], ids[8], "not among them"), np.array([0, 1, 1, 2, 3, 1]), np.array([0, 2, 5]), 1, 3
        )
        assert seen.boosted(log) == 1  # the first has a copy; the lonely, the wordless and the unknown have none
        assert seen.shares(log)[:4] == [1 / 3] * 4
        assert clustered(seen.agreement, Nearness(bits=0, scale=0.0)).boosted(log) == 0
        nothing = LoggedCandidates((), np.empty(0, np.int64), np.empty(0, np.int64), 0, 0)
        assert (seen.boosted(nothing), seen.shares(nothing)[0]) == (0, None)


class TestAgainstPlainComputation:
    @pytest.mark.parametrize("bits", [0, 3, 9, 16])
    def test_clusters_at_any_threshold(self, agreement: Agreement, told: list[dict[str, Any]], bits: int) -> None:
        seen, expected = clustered(agreement, Nearness(bits=bits)), oracle(told, bits)
        assert clusters(seen) == expected
        agent = {row["id"]: row["agent_id"] for row in told}
        several = sum(len({agent[id_] for id_ in members} - {None}) > 1 for members in expected)
        assert int(seen.independent.sum()) == several
        assert seen.clusters.corroborated_count == sum(map(len, expected))
        point = seen.sweep[bits]
        sizes = sorted(map(len, expected))
        assert point == SweepPoint(bits, len(sizes), sum(sizes), sizes[-1])

    def test_near_misses_are_what_one_bit_more_joins(self, agreement: Agreement, told: list[dict[str, Any]]) -> None:
        seen, wider = clustered(agreement, Nearness(bits=9)), oracle(told, 10)
        ids = agreement.ids
        compared = 0
        for number in range(len(seen.clusters)):
            members = {ids[row] for row in seen.members(number)}
            (around,) = [group for group in wider if members <= group]
            missed = seen.near_misses(number)
            assert {ids[row] for row in missed} == around - members
            compared += len(missed)
        assert compared > 0

    def test_boosted_share_and_what_was_logged(self, demo: Store, demo_address: str, agreement: Agreement) -> None:
        window = scope_of(ORG)
        log, seen = logged_candidates(demo, window), clustered(agreement, Nearness())
        inside = {id_ for members in clusters(seen) for id_ in members}
        statement = """select array_agg(observation_id::text), max(corroboration_boost) from retrieval_ab_logs
                        where org_id = %s and created_at >= %s and created_at < %s group by retrieval_id"""
        with psycopg.connect(demo_address) as connection:
            rows = connection.execute(statement, (ORG, window.since, window.until)).fetchall()
        assert log.retrievals == log.logged == len(rows) > 50
        assert seen.boosted(log) == sum(bool(inside & set(candidates)) for candidates, _ in rows) > 0
        assert log.boosted == sum((boost or 0) > 0 for _, boost in rows)
        assert seen.shares(log)[3] == seen.boosted(log) / len(rows)
        assert LoggedCandidates.from_json(json.loads(json.dumps(log.to_json()))).boosted == log.boosted

    def test_disputes_are_contradictions_within_a_cluster(self, demo: Store, told: list[dict[str, Any]]) -> None:
        text = {row["id"]: row["content"] for row in told}
        pairs = disputes(demo, whole_time(scope_of(ORG)))
        assert pairs
        for one, other, _ in pairs:
            verdicts = {str(classify(text[one], text[other])), str(classify(text[other], text[one]))}
            assert "update" in verdicts

    def test_it_travels_whole(self, agreement: Agreement) -> None:
        again = Agreement.from_json(json.loads(json.dumps(agreement.to_json())))
        assert again.ids == agreement.ids
        assert again.sweep == agreement.sweep
        assert (again.active, again.as_of) == (agreement.active, agreement.as_of)
        for name in ("weight", "created", "hashes", "tokens"):
            assert (getattr(again, name) == getattr(agreement, name)).all()
        assert clusters(clustered(again, Nearness())) == clusters(clustered(agreement, Nearness()))


def test_every_planted_family_is_found_or_named_as_missed(demo: Store, demo_address: str) -> None:
    """Found: one cluster at the documented threshold. Named: the page says at how many bits a member would join."""
    statement = "select org_id, family, kind, array_agg(observation_id::text) from demo.families group by 1, 2, 3"
    with psycopg.connect(demo_address) as connection:
        families = connection.execute(statement).fetchall()
    found, named = 0, 0
    for org in {org for org, *_ in families}:
        told = disputes(demo, whole_time(scope_of(org)))
        seen = clustered(agree(demo, whole_time(scope_of(org))), Nearness(), told)
        by_canonical = {row.number: row for row in cluster_rows(seen)}
        for _, _, kind, members in (family for family in families if family[0] == org):
            numbers = {seen.cluster_of(id_) for id_ in members}
            if None in numbers or len(numbers) > 1:
                levels = [seen.joins_at(id_) for id_ in members if seen.cluster_of(id_) is None]
                assert all(level is not None and level > 3 for level in levels)
                named += 1
                continue
            (number,) = (each for each in numbers if each is not None)
            row = by_canonical[number]
            assert kind != "one_agent" or row.agents == 1
            assert kind != "several_agents" or row.agents > 1
            assert kind != "chained" or row.chained
            assert kind != "disputed" or row.disputed
            found += 1
    assert found + named == len(families) > 20
    assert found / len(families) >= 0.85


class TestOddStores:
    def test_nothing_at_all(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        seen = clustered(agree(store, scope()), Nearness(), disputes(store, scope()))
        assert (len(seen.agreement), len(seen.clusters), seen.agreement.active) == (0, 0, 0)
        assert cluster_rows(seen) == []
        assert seen.cluster_of("11111111-1111-1111-1111-111111111111") is None
        assert all(point[1:] == (0, 0, 0) for point in seen.sweep)

    def test_weights_that_are_no_numbers_and_times_beyond_any_calendar(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        for number, (weight, at) in enumerate(
            [
                ("NaN", "2026-01-01"),
                ("Infinity", "2026-01-02"),
                (1.0, "infinity"),
                (1.0, "-infinity"),
                (1.0, "0001-01-01"),
            ]
        ):
            add_memory(owner, "org_a", number, COPIED, weight=weight, created_at=at)
        found = agree(store, scope())
        assert (found.set_apart, len(found), found.active) == (2, 3, 5)
        seen = clustered(found, Nearness())
        assert seen.clusters.corroborated_count == 3
        assert [row.created_at for row in member_rows(seen, range(3))] == [None, None, None]

    def test_one_observation_is_no_cluster(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        id_ = add_memory(owner, "org_a", 1, COPIED)
        seen = clustered(agree(store, scope()), Nearness(bits=16))
        assert (len(seen.clusters), seen.joins_at(id_)) == (0, None)

    def test_only_active_observations_of_the_organization_count(self, store: Store, owner: Owner) -> None:
        plant(owner)
        plant(owner, "org_b", [])
        owner.execute("update observations set status = 'retired' where agent_id = 'bob'")
        add_memory(owner, "org_b", 77, COPIED, agent_id="bob")
        seen = clustered(agree(store, scope()), Nearness(bits=0))
        assert {row.size for row in cluster_rows(seen)} == {2}
        assert all(row.agents == 1 for row in cluster_rows(seen))

    def test_a_store_that_never_kept_a_fingerprint(self, store: Store, owner: Owner) -> None:
        plant(owner)
        with_schema = clusters(clustered(agree(store, scope()), Nearness()))
        owner.execute("drop table rankscope.simhashes, rankscope.opposition_pairs")
        assert clusters(clustered(agree(store, scope()), Nearness())) == with_schema
        assert disputes(store, scope()) == ()

    def test_a_kept_fingerprint_counts_for_the_very_text_it_was_taken_of(self, store: Store, owner: Owner) -> None:
        ids = plant(owner)
        owner.execute(
            """insert into rankscope.simhashes (org_id, observation_id, content_hash, simhash, tokens)
               select org_id, id, case agent_id when 'ann' then md5(content) else 'of another text' end, 4711, 3
                 from observations where agent_id in ('ann', 'bob')"""
        )
        found = agree(store, scope())
        kept = {id_: int(value) for id_, value in zip(found.ids, found.hashes, strict=True)}
        assert kept[ids[0]] == 4711
        assert kept[ids[1]] == int(simhash64([COPIED])[0])


class TestEvidence:
    def test_bits_and_distances(self) -> None:
        hashes = np.array([0b1011, 0b0011, 2**63], np.uint64)
        assert bits_of(hashes)[0][-4:] == [1, 0, 1, 1]
        assert bits_of(hashes)[2] == [1] + [0] * 63
        assert hamming(hashes) == [[0, 1, 4], [1, 0, 3], [4, 3, 0]]

    def test_the_nearest_of_some(self, agreement: Agreement) -> None:
        hashes = [int(value) for value in agreement.hashes[:6]]
        expected = [min((hashes[row] ^ hashes[other]).bit_count() for other in (2, 3, 4)) for row in (0, 5)]
        assert nearest(agreement, [0, 5], [2, 3, 4]) == expected

    @pytest.mark.parametrize(
        ("old", "new", "expected"),
        [
            ("retry three times", "retry three  times", "the same words"),
            ("retry three times", "retry four times", "retry [−three−] [+four+] times"),
            ("a b c d e f g h i", "a b c d e f g h x", "… e f g h [−i−] [+x+]"),
            ("retry", "retry now", "retry [+now+]"),
            ("", "<b>x</b>", "[+<b>x</b>+]"),
        ],
    )
    def test_words_that_differ(self, old: str, new: str, expected: str) -> None:
        assert word_diff(old, new) == expected


def test_chaining_starts_where_the_largest_cluster_leaps() -> None:
    sizes = [2, 3, 5, 6, 30, 400]
    assert (
        cliff([SweepPoint(level, 1, size, size) for level, size in enumerate(sizes)]) == 4
    )  # 30 ≥ 2 · 6, and 20 at least
    assert cliff([SweepPoint(level, 1, 4, 4) for level in range(5)]) is None
    assert cliff([SweepPoint(0, 0, 0, 0), SweepPoint(1, 1, 25, 25)]) is None  # nothing grew: it was not there
