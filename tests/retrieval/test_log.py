"""A retrieval is logged without its caller noticing: every candidate and the injection."""

from __future__ import annotations

import logging
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from queries.errors import StoreError
from queries.log_writers import LogHealth, log_totals
from queries.retrieval_log import LONGEST_QUERY, WriteRetrievals
from queries.scope import EVERYTHING, Reach, Scope
from retrieval.log import CandidateRows, LogCounts, LogWriter, log_retrieval_ab, start_log_writer
from tests import sample
from tests.retrieval.logs import AT, injections, logged, retrieval

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

ROOT = Path(__file__).parents[2]
WINDOW = Scope(EVERYTHING, sample.TODAY - timedelta(days=9_000), sample.TODAY + timedelta(days=9_000))
COLUMNS = """select observation_id, relevance_score, feedback_weight, weighted_score, unweighted_rank, weighted_rank,
                    injected, corroboration_boost from retrieval_ab_logs order by id"""


class TestWritten:
    def test_one_row_per_candidate_in_the_order_given(self, platform: Store, owner: Owner) -> None:
        log = retrieval(4)
        with LogWriter(platform) as writer:
            assert log_retrieval_ab(log, writer)
        rows = log.rows
        assert owner.execute(COLUMNS).fetchall() == [
            (rows.observation_id[i], 0.9 - 0.01 * i, 0.5 + 0.001 * i, 0.4 - 0.001 * i, i, [1, 0, 2, 3][i], i < 2, 0.1)
            for i in range(4)
        ]
        shared = owner.execute(
            """select distinct org_id, retrieval_id, session_id, project_id, query_text, weighting_enabled, pipeline,
                 created_at from retrieval_ab_logs"""
        ).fetchall()
        assert shared == [
            ("org_a", log.retrieval_id, "session-1", "api", log.query_text, True, "Relevance() > Feedback()", AT)
        ]

    def test_the_injection_lists_what_was_given_best_first(self, platform: Store, owner: Owner) -> None:
        log = retrieval(4)
        with LogWriter(platform) as writer:
            writer.log(log)
        found = owner.execute(
            """select org_id, retrieval_id, session_id, project_id, work_type, token_budget, tokens_used, candidates,
                 observation_ids, created_at from context_injection_logs"""
        ).fetchall()
        first, second = log.rows.observation_id[:2]
        assert found == [("org_a", log.retrieval_id, "session-1", "api", "bug_fix", 750, 123, 4, [second, first], AT)]

    def test_without_candidates_the_injection_is_still_logged(self, platform: Store, owner: Owner) -> None:
        log = retrieval(0)
        with LogWriter(platform) as writer:
            writer.log(log)
        assert (logged(owner), injections(owner)) == ({}, {log.retrieval_id: 0})

    def test_without_a_session_nothing_is_logged_or_counted(self, platform: Store, owner: Owner) -> None:
        with LogWriter(platform) as writer:
            assert not log_retrieval_ab(retrieval(session=None), writer)
            assert not log_retrieval_ab(retrieval(session=""), writer)
        assert (logged(owner), injections(owner)) == ({}, {})
        assert writer.counts() == LogCounts()

    def test_many_batches_arrive_whole_and_in_order(self, platform: Store, owner: Owner) -> None:
        logs = [retrieval(20, org=f"org_{i % 3}") for i in range(700)]
        with LogWriter(platform) as writer:
            assert all(writer.log(log) for log in logs)
        assert logged(owner) == injections(owner) == {log.retrieval_id: 20 for log in logs}
        order = [each for (each,) in owner.execute("select retrieval_id from context_injection_logs order by id")]
        assert sorted(order) == sorted(log.retrieval_id for log in logs)
        assert writer.counts() == LogCounts(written=700, rows=14_000)

    def test_the_same_retrieval_sent_again_is_there_once(self, platform: Store, owner: Owner) -> None:
        """In one batch, in a later one, by another process, and under another organization as another one."""
        log = retrieval(5)
        with LogWriter(platform) as one, LogWriter(platform) as other:
            for writer in (one, one, other):
                writer.log(log)
            one.flush()
            one.log(log)
            other.log(replace(log, org_id="org_b"))
        found = owner.execute("select org_id, count(*) from retrieval_ab_logs group by 1 order by 1").fetchall()
        assert found == [("org_a", 5), ("org_b", 5)]

    @pytest.mark.parametrize("score", [float("nan"), float("inf"), -float("inf"), None])
    def test_what_is_no_number_is_stored_as_missing(self, platform: Store, owner: Owner, score: float | None) -> None:
        log = retrieval(2)
        scores = [score, 0.25]
        rows = replace(log.rows, relevance=scores, weight=scores, weighted_score=scores, corroboration_boost=scores)
        with LogWriter(platform) as writer:
            writer.log(replace(log, rows=rows))
        found = owner.execute(
            """select relevance_score, feedback_weight, weighted_score, corroboration_boost
                 from retrieval_ab_logs order by id"""
        ).fetchall()
        assert found == [(None, None, None, None), (0.25, 0.25, 0.25, 0.25)]

    def test_arrays_of_numpy_and_ids_as_text(self, platform: Store, owner: Owner) -> None:
        log = retrieval(3)
        rows = log.rows
        arrays = CandidateRows(
            [str(each) for each in rows.observation_id],
            np.array(rows.relevance),
            np.array(rows.weight),
            np.array(rows.weighted_score),
            np.array(rows.unweighted_rank),
            np.array(rows.weighted_rank),
            np.array(rows.injected),
        )
        with LogWriter(platform) as writer:
            writer.log(log)
            writer.log(retrieval(rows=arrays))
        found = owner.execute(COLUMNS).fetchall()
        assert [row[:-1] for row in found[:3]] == [row[:-1] for row in found[3:]]
        assert [row[-1] for row in found] == [0.1] * 3 + [None] * 3

    def test_hostile_and_endless_queries_are_logged_as_text(self, platform: Store, owner: Owner) -> None:
        queries = ["'; drop table sessions; --", '{"},{"', "NULL", "a\0b\ud800c", "x" * 100_000, "", ":org_id %s"]
        with LogWriter(platform) as writer:
            for query in queries:
                writer.log(retrieval(1, query_text=query))
        found = [text for (text,) in owner.execute("select query_text from retrieval_ab_logs order by id")]
        assert found == [*queries[:3], "a\ufffdb?c", "x" * LONGEST_QUERY, *queries[5:]]


class TestScope:
    def test_a_writer_logs_for_its_own_organizations_alone(self, platform: Store, owner: Owner) -> None:
        mine, foreign = retrieval(2), retrieval(2, org="org_b")
        with LogWriter(platform, Reach(("org_a",))) as writer, writer._changed:
            writer.log(foreign)
            writer.log(mine)
        assert logged(owner) == injections(owner) == {mine.retrieval_id: 2}
        assert writer.counts() == LogCounts(written=1, rows=2, failed=1)

    def test_row_security_refuses_what_the_transaction_s_scope_does_not_hold(
        self, platform: Store, owner: Owner
    ) -> None:
        change = WriteRetrievals((retrieval(2, org="org_b"),))
        for reach in (Reach(("org_a",)), Reach(())):
            with pytest.raises(StoreError) as refused, platform.writing(reach) as connection:
                change.apply(connection)
            assert (refused.value.kind, logged(owner)) == ("privilege", {})

    def test_a_batch_reaches_only_the_organizations_it_names(self) -> None:
        change = WriteRetrievals((retrieval(org="org_b"), retrieval(org="org_a"), retrieval(org="org_b")))
        assert change.reach == Reach(("org_a", "org_b"))


class TestHealth:
    def test_another_process_reads_what_was_written_and_lost(self, platform: Store, store: Store, owner: Owner) -> None:
        with LogWriter(platform, name="agents") as writer, writer._changed:
            for log in (retrieval(3), retrieval(4), retrieval(5, org="org_b"), retrieval(token_budget=2**40)):
                writer.log(log)
        with LogWriter(platform) as second:
            second.log(retrieval(1))
        answer = store.ask(LogHealth(WINDOW))
        assert answer["started_at"].tolist() == [writer.started_at] * 2  # the earlier of two processes
        found = answer.drop(columns=["started_at", "seen_at"]).values.tolist()
        assert [row[:-2] for row in found] == [["org_a", 2, 0, 3, 8, 0, 1], ["org_b", 1, 0, 1, 5, 0, 0]]
        assert found[0][-2:] == ["data", "agents"]
        assert log_totals(store, 1.0) == {"queued": 0, "written": 4, "rows": 13, "dropped": 0, "failed": 1}
        assert owner.execute("select distinct name from rankscope.log_writers where org_id = 'org_b'").fetchall() == [
            ("agents",)
        ]

    def test_a_viewer_reads_of_his_own_organizations(self, platform: Store, store: Store) -> None:
        with LogWriter(platform) as writer:
            writer.log(retrieval())
            writer.log(retrieval(org="org_b"))
        mine = replace(WINDOW, reach=Reach(("org_b",)))
        assert store.ask(LogHealth(mine))["org_id"].tolist() == ["org_b"]

    def test_a_store_without_our_table_is_logged_to_and_tells_nothing(
        self, platform: Store, store: Store, owner: Owner
    ) -> None:
        owner.execute("drop table rankscope.log_writers")
        with LogWriter(platform) as writer:
            writer.log(retrieval(2))
        assert writer.counts() == LogCounts(written=1, rows=2)
        assert log_totals(store, 1.0) is None

    def test_a_loss_is_reported_although_nothing_is_written(self, platform: Store, store: Store) -> None:
        with LogWriter(platform) as writer:
            writer.log(retrieval(token_budget=2**40))
        assert log_totals(store, 1.0) == {"queued": 0, "written": 0, "rows": 0, "dropped": 0, "failed": 1}


class TestProcess:
    @pytest.mark.usefixtures("_no_process_writer")
    def test_a_second_start_lets_the_first_finish(self, platform: Store, owner: Owner) -> None:
        start_log_writer(platform)
        one, two = retrieval(), retrieval()
        assert log_retrieval_ab(one)
        start_log_writer(platform)
        assert log_retrieval_ab(two)
        start_log_writer(platform).stop()
        assert set(logged(owner)) == {one.retrieval_id, two.retrieval_id}

    def test_a_program_that_ends_without_a_stop_writes_what_waits(
        self, cluster: Cluster, store_database: str, owner: Owner
    ) -> None:
        program = """
import sys
from queries.engine import Store, make_engine
from retrieval.log import log_retrieval_ab, start_log_writer
from tests.retrieval.logs import retrieval

engine = make_engine(sys.argv[1], name="ends")
start_log_writer(Store(engine, engine))
for _ in range(300):
    log_retrieval_ab(retrieval(20))
"""
        url = cluster.url("memory_write", store_database)
        subprocess.run([sys.executable, "-c", program, url], cwd=ROOT, check=True)
        assert sorted(logged(owner).values()) == [20] * 300

    def test_recovery_is_said_once_and_the_next_failure_warned_of_again(
        self, platform: Store, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO, "rankscope.retrieval")
        with LogWriter(platform) as writer:
            for _ in range(2):
                writer.log(retrieval(token_budget=2**40))
                writer.flush()
                for _ in range(2):
                    writer.log(retrieval())
                    writer.flush()
        assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"] * 2
