from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from collections import defaultdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

import psycopg
import pytest

from jobs.__main__ import run
from jobs.demo import main
from jobs.demo.load import TABLES
from queries.embedded import DATABASE, start
from settings import Settings
from tests.jobs.command import ROOT
from tests.jobs.conftest import NOW, filled_now
from tests.jobs.stores import rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from uuid import UUID

    from tests.conftest import Cluster


class LogRow(NamedTuple):
    org: str
    retrieval: UUID
    session: str
    observation: UUID
    relevance: float
    weight: float
    weighted: float
    unweighted_rank: int
    weighted_rank: int
    enabled: bool
    injected: bool
    at: datetime


LOG = """select org_id, retrieval_id, session_id, observation_id, relevance_score, feedback_weight, weighted_score,
                unweighted_rank, weighted_rank, weighting_enabled, injected, created_at
           from retrieval_ab_logs order by org_id, id"""


def retrievals(address: str) -> dict[UUID, list[LogRow]]:
    found = defaultdict(list)
    for row in rows(address, LOG):
        found[LogRow(*row).retrieval].append(LogRow(*row))
    return found


class TestRanks:
    def test_both_columns_are_permutations_except_where_one_row_was_lost(self, filled: str) -> None:
        broken = []
        for retrieval in retrievals(filled).values():
            whole = list(range(len(retrieval)))
            if sorted(row.unweighted_rank for row in retrieval) != whole:
                broken.append(retrieval)
            else:
                assert sorted(row.weighted_rank for row in retrieval) == whole
        assert len(broken) == 1
        missing = set(range(len(broken[0]) + 1)) - {row.weighted_rank for row in broken[0]}
        assert missing == {4}

    def test_weighted_is_relevance_times_weight_to_the_last_bit(self, filled: str) -> None:
        for row in (row for retrieval in retrievals(filled).values() for row in retrieval):
            assert row.weighted == (row.relevance * row.weight if row.enabled else row.relevance)
            assert 0 < row.relevance <= 1 + 1e-12
            assert 0 < row.weight <= 1

    def test_ranks_follow_the_scores_and_ties_the_id(self, filled: str) -> None:
        for retrieval in retrievals(filled).values():
            by_relevance = sorted(retrieval, key=lambda row: (-row.relevance, row.observation))
            assert [row.unweighted_rank for row in by_relevance] == sorted(row.unweighted_rank for row in retrieval)
            by_weight = sorted(retrieval, key=lambda row: (-row.weighted, row.unweighted_rank))
            assert [row.weighted_rank for row in by_weight] == sorted(row.weighted_rank for row in retrieval)

    def test_feedback_moves_some_top_fives_and_not_all(self, filled: str) -> None:
        moved = [
            any((row.unweighted_rank < 5) != (row.weighted_rank < 5) for row in retrieval)
            for retrieval in retrievals(filled).values()
        ]
        assert 5 <= sum(moved) <= len(moved) / 2

    def test_weighting_ends_with_the_flag(self, filled: str) -> None:
        ((changed,),) = rows(filled, "select changed_at from rankscope.flag_changes")
        assert changed == NOW - timedelta(days=9)
        for row in (row for retrieval in retrievals(filled).values() for row in retrieval):
            assert row.enabled == (row.org != "org_quillworks" or row.at < changed)


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

    def test_a_retrieval_sees_the_weight_that_earlier_outcomes_left(self, filled: str) -> None:
        history = rows(
            filled,
            "select observation_id, recorded_at, new_weight from observation_weight_history order by recorded_at, id",
        )
        for row in (row for retrieval in retrievals(filled).values() for row in retrieval):
            earlier = [new for observation, at, new in history if observation == row.observation and at < row.at]
            assert row.weight == (earlier[-1] if earlier else 1.0)

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
        ended = rows(filled, "select org_id, id, outcome from sessions")
        assert {(org, session) for org, session, outcome in ended if outcome} == set(learned)
        for key, observations in learned.items():
            assert observations == given[key]
        for org, session, injected in rows(
            filled, "select org_id, session_id, injected_observation_ids from session_diagnostics"
        ):
            assert set(injected) == learned[org, session]


class TestBudget:
    BUDGETS = {"bug_fix": 750, "feature": 400, "refactor": 600, "chore": 300}  # noqa: RUF012

    def test_injection_ends_at_the_first_that_does_not_fit(self, filled: str) -> None:
        texts = {(org, id_): text for org, id_, text in rows(filled, "select org_id, id, content from observations")}
        logs = retrievals(filled)
        injections = rows(
            filled,
            """select org_id, retrieval_id, work_type, token_budget, tokens_used, candidates, observation_ids
                 from context_injection_logs""",
        )
        assert len(injections) == len(logs)
        some_were_cut = False
        for org, retrieval, work, budget, used, candidates, given in injections:
            assert budget == self.BUDGETS.get(str(work), 500)
            ranked = sorted(logs[retrieval], key=lambda row: row.weighted_rank)
            cost = [math.ceil(len(str(texts[org, row.observation])) / 4) for row in ranked]
            fits = [n for n in range(1, len(ranked) + 1) if n == 1 or sum(cost[:n]) <= budget]
            whole = len(ranked) == candidates
            assert whole or len(ranked) == candidates - 1
            assert [row.observation for row in ranked if row.injected] == [
                observation for observation in given if observation in {row.observation for row in ranked}
            ]
            if whole:
                assert len(given) == fits[-1]
                assert used == sum(cost[: fits[-1]])
                some_were_cut |= len(ranked) > fits[-1]
        assert some_were_cut


class TestFill:
    def test_a_second_run_leaves_everything_as_it_is(self, filled: str) -> None:
        before = rows(filled, LOG)
        assert filled_now(filled) is None
        assert rows(filled, LOG) == before

    def test_a_store_with_an_organization_of_its_own_is_never_filled(self, owned: str) -> None:
        rows(owned, "insert into organizations (id, name) values ('mine', 'Mine') returning id")
        assert filled_now(owned) is None
        assert rows(owned, "select count(*) from observations") == [(0,)]

    def test_killed_in_the_middle_nothing_is_left_half(self, cluster: Cluster, owned: str, store_database: str) -> None:
        """A lock on the last table holds the writer after most rows are written; then it is killed."""
        code = f"""
from datetime import UTC, datetime
from jobs.demo.load import fill
from queries.owner import owning
with owning({owned!r}) as engine, engine.begin() as connection:
    fill(connection, datetime.now(UTC))
"""
        with psycopg.connect(cluster.plain_url("postgres", store_database)) as blocker:
            blocker.execute("lock table session_diagnostics in access exclusive mode")
            writer = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
            waiting = "select count(*) from pg_locks where not granted and relation = 'session_diagnostics'::regclass"
            wait_until(lambda: rows(owned, waiting) == [(1,)])
            os.kill(writer.pid, signal.SIGKILL)
            writer.wait()
        backends = "select count(*) from pg_stat_activity where application_name = 'rankscope jobs' and datname = %s"
        wait_until(lambda: rows(owned, backends, [store_database]) == [(0,)])
        for table in TABLES:
            assert rows(owned, f"select count(*) from {table.fullname}") == [(0,)]  # noqa: S608 - our own names
        assert filled_now(owned) is not None


class TestCommand:
    def test_with_a_database_url_nothing_is_written_or_even_connected_to(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:9/none")
        assert run(["demo"]) == 0
        assert capsys.readouterr().out == "serving the store named by DATABASE_URL; no demo data is written\n"

    def test_the_embedded_store_is_made_filled_once_and_left_running(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        settings = Settings(data_folder=tmp_path / "store")
        assert main(Namespace(if_empty=False), settings) == 0
        assert capsys.readouterr().out == "the demo store is ready: 3 organizations, 60 observations, 316 log rows\n"
        with start(settings.data_folder) as lease:
            address = lease.url("postgres", DATABASE)
            before = rows(address, LOG)
            assert main(Namespace(if_empty=False), settings) == 0
            assert capsys.readouterr().out == "the store already holds organizations and stays as it is\n"
            assert main(Namespace(if_empty=True), settings) == 0
            assert capsys.readouterr().out == ""
            assert rows(address, LOG) == before


def wait_until(happened: Callable[[], bool], limit: float = 30.0) -> None:
    until = time.monotonic() + limit
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.05)
