"""What the demo logged and learned is what a memory of that time would have."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest

from jobs.demo.vectors import embed
from ranking.simhash import simhash64
from tests.jobs.conftest import NOW
from tests.jobs.demo.log import LOG, LogRow
from tests.jobs.stores import rows

if TYPE_CHECKING:
    from uuid import UUID


@pytest.fixture(scope="module")
def logged(filled: str) -> list[LogRow]:
    return [LogRow(*row) for row in rows(filled, LOG)]


@pytest.fixture(scope="module")
def retrievals(logged: list[LogRow]) -> dict[UUID, list[LogRow]]:
    found = defaultdict(list)
    for row in logged:
        found[row.retrieval].append(row)
    return found


@pytest.fixture(scope="module")
def lost(filled: str) -> set[object]:
    """Retrievals whose log was planted with holes."""
    return {retrieval for (retrieval,) in rows(filled, "select distinct retrieval_id from demo.lost_rows")}


class TestCandidates:
    def test_none_is_newer_than_its_retrieval(self, filled: str) -> None:
        newer = """select count(*) from retrieval_ab_logs l
                     join observations o on o.org_id = l.org_id and o.id = l.observation_id
                    where o.created_at >= l.created_at or o.project_id <> l.project_id"""
        assert rows(filled, newer) == [(0,)]

    def test_they_are_what_an_exact_search_would_have_found_then(
        self, filled: str, retrievals: dict[UUID, list[LogRow]], lost: set[object]
    ) -> None:
        whole = [found for id_, found in sorted(retrievals.items()) if id_ not in lost]
        nearest = """select o.id, 1 - (e.embedding <=> cast(%s as vector))
                       from observations o join observation_embeddings e on e.org_id = o.org_id
                        and e.observation_id = o.id and e.route = 'full'
                      where o.org_id = %s and o.project_id = %s and o.created_at < %s
                      order by 2 desc, 1 limit 20"""
        for found in whole[:: len(whole) // 12]:
            first = found[0]
            vector = str(embed([first.query])[0].tolist())
            expected = rows(filled, nearest, [vector, first.org, first.project, first.at])
            by_relevance = sorted(found, key=lambda row: row.unweighted_rank if row.boost is None else -row.relevance)
            positive = [(id_, score) for id_, score in expected if score > 0]
            assert {id_ for id_, _ in positive} == {row.observation for row in found}
            assert [row.relevance for row in by_relevance] == pytest.approx([s for _, s in positive], abs=1e-6)

    def test_at_most_twenty(self, retrievals: dict[UUID, list[LogRow]]) -> None:
        assert max(map(len, retrievals.values())) == 20


class TestRanks:
    def test_both_columns_are_permutations_except_where_rows_were_lost(
        self, filled: str, retrievals: dict[UUID, list[LogRow]], lost: set[object]
    ) -> None:
        missing: dict[object, list[tuple[int, int]]] = defaultdict(list)
        for retrieval, before, after in rows(
            filled, "select retrieval_id, unweighted_rank, weighted_rank from demo.lost_rows"
        ):
            missing[retrieval].append((before, after))
        assert lost <= retrievals.keys()
        assert lost
        for id_, found in retrievals.items():
            ranks = [(row.unweighted_rank, row.weighted_rank) for row in found] + missing[id_]
            for column in zip(*ranks, strict=True):
                assert sorted(column) == list(range(len(ranks)))

    def test_rows_were_lost_in_one_organization_and_lately(
        self, retrievals: dict[UUID, list[LogRow]], lost: set[object]
    ) -> None:
        holed = [found[0] for id_, found in retrievals.items() if id_ in lost]
        assert {row.org for row in holed} == {"org_lumenfield"}
        assert min(row.at for row in holed) >= NOW - timedelta(days=42)

    def test_weighted_is_relevance_and_boost_times_weight_to_the_last_bit(self, logged: list[LogRow]) -> None:
        for row in logged:
            base = row.relevance + (row.boost or 0.0)
            assert row.weighted == (base * row.weight if row.enabled else base)
            assert 0 < row.relevance <= 1
            assert 0 < row.weight <= 1

    def test_ranks_follow_the_scores_and_ties_the_relevance_then_the_id(
        self, retrievals: dict[UUID, list[LogRow]]
    ) -> None:
        for found in retrievals.values():
            recalled = sorted(found, key=lambda row: (-row.relevance, row.observation))
            before = sorted(recalled, key=lambda row: -(row.relevance + (row.boost or 0.0)))
            assert [row.unweighted_rank for row in before] == sorted(row.unweighted_rank for row in found)
            after = sorted(recalled, key=lambda row: -row.weighted)
            assert [row.weighted_rank for row in after] == sorted(row.weighted_rank for row in found)

    def test_only_what_others_repeat_is_boosted_and_only_where_the_flag_says_so(
        self, filled: str, logged: list[LogRow]
    ) -> None:
        repeated = {id_ for (id_,) in rows(filled, "select observation_id from demo.families")}
        boosted = {row.observation for row in logged if row.boost}
        texts = rows(filled, "select id, project_id, content from observations where org_id = 'org_tidewater'")
        for project in {project for _, project, _ in texts}:
            ids = [id_ for id_, of, _ in texts if of == project]
            hashes = simhash64([text for _, of, text in texts if of == project])
            apart = np.bitwise_count(hashes[:, None] ^ hashes)
            alone = {id_ for id_, near in zip(ids, (apart <= 3).sum(axis=1).tolist(), strict=True) if near == 1}
            assert not boosted & alone
        # the others only look alike to the hash
        assert len(boosted & repeated) / len(boosted) > 0.8
        assert {row.org for row in logged if row.boost is not None} == {"org_tidewater"}
        # one more voice is worth 0.1, three more twice that: 0.1 · log2(1 + n)
        assert {row.boost for row in logged if row.boost} <= {0.1 * math.log2(1 + n) for n in range(1, 9)}

    def test_feedback_moves_some_top_fives_and_not_all(self, retrievals: dict[UUID, list[LogRow]]) -> None:
        moved: dict[tuple[str, bool], list[bool]] = defaultdict(list)
        for found in retrievals.values():
            changed = any((row.unweighted_rank < 5) != (row.weighted_rank < 5) for row in found)
            moved[found[0].org, found[0].enabled].append(changed)
        for (org, enabled), all_ in moved.items():
            share = sum(all_) / len(all_)
            assert (0.05 < share < 0.9) if enabled and org != "org_hostile" else share <= 1 / 6

    def test_weighting_ends_with_the_flag(self, filled: str, logged: list[LogRow]) -> None:
        changed = dict(rows(filled, "select org_id, changed_at from rankscope.flag_changes"))
        assert changed == {"org_quillworks": NOW - timedelta(days=40), "org_alder": NOW - timedelta(days=120)}
        for row in logged:
            assert row.enabled == (row.org not in changed or row.at < changed[row.org])
        assert {row.enabled for row in logged if row.org == "org_quillworks"} == {True, False}

    def test_a_memory_that_was_down_left_a_gap(self, filled: str, logged: list[LogRow]) -> None:
        down, up = NOW - timedelta(days=47), NOW - timedelta(days=42)
        assert not [row for row in logged if row.org == "org_lumenfield" and down <= row.at < up]
        worked = "select count(*) from sessions where org_id = 'org_lumenfield' and created_at between %s and %s"
        ((sessions,),) = rows(filled, worked, [down, up])
        assert sessions

    def test_the_process_that_lost_rows_counts_what_is_in_the_log_since_it_began_and_a_few_dropped(
        self, filled: str
    ) -> None:
        writers = rows(
            filled,
            "select org_id, started_at, seen_at, queued, written, rows, dropped, failed from rankscope.log_writers",
        )
        since = NOW - timedelta(days=42)
        logged = """select count(distinct retrieval_id), count(*), max(created_at) from retrieval_ab_logs
                     where org_id = 'org_lumenfield' and created_at >= %s"""
        ((retrievals, log_rows, newest),) = rows(filled, logged, [since])
        assert writers == [("org_lumenfield", since, newest, 0, retrievals, log_rows, 5, 0)]


class TestWeights:
    def test_they_replay_from_history_by_the_documented_rule(self, filled: str) -> None:
        """From 1.0, w becomes w(1 - alpha) + signal·alpha; alpha 0.1 on success, 0.15 on failure, doubled if misled."""
        weights: dict[tuple[object, object], float] = defaultdict(lambda: 1.0)
        misled = dict(
            rows(filled, "select (org_id, session_id)::text, misleading_observation_ids from session_diagnostics")
        )
        steps = rows(
            filled,
            """select org_id, observation_id, (org_id, session_id)::text, outcome, previous_weight, new_weight, alpha
                 from observation_weight_history order by recorded_at, id""",
        )
        for org, observation, session, outcome, before, after, alpha in steps:
            twice = 2 if observation in misled[session] else 1
            assert alpha == (0.1 if outcome == "accepted" else 0.15) * twice
            assert before == weights[org, observation]
            signal_ = 1 if outcome == "accepted" else 0
            assert after == pytest.approx(before * (1 - alpha) + signal_ * alpha)
            weights[org, observation] = after
        for org, observation, weight in rows(filled, "select org_id, id, weight from observations"):
            assert weight == weights[org, observation]

    def test_a_retrieval_sees_the_weight_that_earlier_outcomes_left(self, filled: str, logged: list[LogRow]) -> None:
        history: dict[object, tuple[list[datetime], list[float]]] = defaultdict(lambda: ([], [1.0]))
        for observation, at, new in rows(
            filled,
            "select observation_id, recorded_at, new_weight from observation_weight_history order by recorded_at, id",
        ):
            history[observation][0].append(at)
            history[observation][1].append(new)
        for row in logged:
            times, weights = history[row.observation]
            assert row.weight == weights[bisect_left(times, row.at)]

    def test_only_what_a_session_was_given_learns_from_its_outcome(self, filled: str) -> None:
        given: dict[object, set[object]] = defaultdict(set)
        for org, session, observation in rows(
            filled, "select org_id, session_id, unnest(observation_ids) from context_injection_logs"
        ):
            given[org, session].add(observation)
        learned: dict[object, set[object]] = defaultdict(set)
        for org, session, observation in rows(
            filled, "select org_id, session_id, observation_id from observation_weight_history"
        ):
            learned[org, session].add(observation)
        ended = {(org, session) for org, session in rows(filled, "select org_id, id from sessions where outcome <> ''")}
        assert learned.keys() == {key for key in ended if key in given}
        for key, observations in learned.items():
            assert observations == given[key]
        for org, session, injected in rows(
            filled, "select org_id, session_id, injected_observation_ids from session_diagnostics"
        ):
            assert set(injected) == learned.get((org, session), set())


class TestOutcomes:
    def test_a_session_given_wrong_advice_about_its_task_failed(self, filled: str) -> None:
        """What diagnostics name is planted as wrong or was in failed sessions before; accepted ones name none."""
        found = rows(
            filled,
            """select outcome, injected_observation_ids, helpful_observation_ids, misleading_observation_ids
                 from session_diagnostics where org_id <> 'org_hostile'""",
        )
        assert {outcome for outcome, *_ in found} == {"accepted", "rejected", "rework"}
        for outcome, given, helpful, misleading in found:
            assert not (outcome == "accepted" and misleading)
            assert not (outcome == "rejected" and not misleading)
            # only what was given can have helped or misled
            assert {*helpful, *misleading} <= set(given)
            # without wrong advice, whoever was helped was accepted
            assert not (outcome == "rework" and helpful and not misleading)
        assert {outcome for outcome, _, helpful, _ in found if helpful} == {"accepted", "rejected", "rework"}

    def test_running_sessions_have_neither_outcome_nor_end(self, filled: str) -> None:
        odd = "select count(*) from sessions where (outcome is null) <> (ended_at is null) or ended_at > %s"
        assert rows(filled, odd, [NOW]) == [(0,)]


class TestBudget:
    BUDGETS = {"bug_fix": 750, "feature": 400, "refactor": 600, "chore": 300}  # noqa: RUF012

    def test_injection_ends_at_the_first_that_does_not_fit(
        self, filled: str, retrievals: dict[UUID, list[LogRow]], lost: set[object]
    ) -> None:
        texts = {(org, id_): text for org, id_, text in rows(filled, "select org_id, id, content from observations")}
        injections = rows(
            filled,
            """select org_id, retrieval_id, work_type, token_budget, tokens_used, candidates, observation_ids
                 from context_injection_logs""",
        )
        assert len(injections) == len(retrievals)
        some_were_cut = False
        for org, retrieval, work, budget, used, candidates, given in injections:
            assert budget == self.BUDGETS.get(str(work), 500)
            ranked = sorted(retrievals[retrieval], key=lambda row: row.weighted_rank)
            kept = {row.observation for row in ranked}
            assert [row.observation for row in ranked if row.injected] == [id_ for id_ in given if id_ in kept]
            if retrieval not in lost:
                cost = [math.ceil(len(str(texts[org, row.observation])) / 4) for row in ranked]
                fits = [n for n in range(1, len(ranked) + 1) if n == 1 or sum(cost[:n]) <= budget]
                assert candidates == len(ranked)
                assert len(given) == fits[-1]
                assert used == sum(cost[: fits[-1]])
                some_were_cut |= len(ranked) > fits[-1]
        assert some_were_cut
