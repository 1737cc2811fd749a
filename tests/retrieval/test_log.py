"""A retrieval is logged without its caller noticing: every candidate and the injection, or it is counted as lost."""

from __future__ import annotations

import logging
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
import pytest

from queries.errors import StoreError
from queries.log_writers import LogHealth, log_totals
from queries.retrieval_log import LONGEST_QUERY, WriteRetrievals
from queries.scope import EVERYTHING, Reach, Scope
from retrieval import log as module
from retrieval.log import CandidateRows, LogCounts, LogWriter, log_retrieval_ab, start_log_writer
from tests import sample
from tests.retrieval.logs import AT, injections, logged, memory_store, retrieval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from queries.engine import Store
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

ROOT = Path(__file__).parents[2]
WINDOW = Scope(EVERYTHING, sample.TODAY.replace(year=2000), sample.TODAY.replace(year=2999))
COLUMNS = """select observation_id, relevance_score, feedback_weight, weighted_score, unweighted_rank, weighted_rank,
                    injected, corroboration_boost from retrieval_ab_logs order by id"""


@pytest.fixture
def memory(cluster: Cluster, store_database: str) -> Iterator[Store]:
    opened = memory_store(cluster, store_database)
    yield opened
    opened.close()


@pytest.fixture
def _no_process_writer(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(module._Process, "writer", None)
    monkeypatch.setattr(module._Process, "warned", False)
    yield
    if module._Process.writer is not None:
        module._Process.writer.stop()


class TestWritten:
    def test_one_row_per_candidate_in_the_order_given(self, memory: Store, owner: Owner) -> None:
        log = retrieval(4)
        with LogWriter(memory) as writer:
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

    def test_the_injection_lists_what_was_given_best_first(self, memory: Store, owner: Owner) -> None:
        log = retrieval(4)
        with LogWriter(memory) as writer:
            writer.log(log)
        found = owner.execute(
            """select org_id, retrieval_id, session_id, project_id, work_type, token_budget, tokens_used, candidates,
                 observation_ids, created_at from context_injection_logs"""
        ).fetchall()
        first, second = log.rows.observation_id[:2]
        assert found == [("org_a", log.retrieval_id, "session-1", "api", "bug_fix", 750, 123, 4, [second, first], AT)]

    def test_without_candidates_the_injection_is_still_logged(self, memory: Store, owner: Owner) -> None:
        log = retrieval(0)
        with LogWriter(memory) as writer:
            writer.log(log)
        assert (logged(owner), injections(owner)) == ({}, {log.retrieval_id: 0})

    def test_without_a_session_nothing_is_logged_or_counted(self, memory: Store, owner: Owner) -> None:
        with LogWriter(memory) as writer:
            assert not log_retrieval_ab(retrieval(session=None), writer)
            assert not log_retrieval_ab(retrieval(session=""), writer)
        assert (logged(owner), injections(owner)) == ({}, {})
        assert writer.counts() == LogCounts()

    def test_many_batches_arrive_whole_and_in_order(self, memory: Store, owner: Owner) -> None:
        logs = [retrieval(20, org=f"org_{i % 3}") for i in range(700)]
        with LogWriter(memory) as writer:
            assert all(writer.log(log) for log in logs)
        assert logged(owner) == injections(owner) == {log.retrieval_id: 20 for log in logs}
        order = [each for (each,) in owner.execute("select retrieval_id from context_injection_logs order by id")]
        assert sorted(order) == sorted(log.retrieval_id for log in logs)
        assert writer.counts() == LogCounts(written=700, rows=14_000)

    def test_the_same_retrieval_sent_again_is_there_once(self, memory: Store, owner: Owner) -> None:
        """In one batch, in a later one, by another process, and under another organization as another one."""
        log = retrieval(5)
        with LogWriter(memory) as one, LogWriter(memory) as other:
            for writer in (one, one, other):
                writer.log(log)
            one.flush()
            one.log(log)
            other.log(replace(log, org_id="org_b"))
        found = owner.execute("select org_id, count(*) from retrieval_ab_logs group by 1 order by 1").fetchall()
        assert found == [("org_a", 5), ("org_b", 5)]

    @pytest.mark.parametrize("score", [float("nan"), float("inf"), -float("inf"), None])
    def test_what_is_no_number_is_stored_as_missing(self, memory: Store, owner: Owner, score: float | None) -> None:
        log = retrieval(2)
        scores = [score, 0.25]
        rows = replace(log.rows, relevance=scores, weight=scores, weighted_score=scores, corroboration_boost=scores)
        with LogWriter(memory) as writer:
            writer.log(replace(log, rows=rows))
        found = owner.execute(
            """select relevance_score, feedback_weight, weighted_score, corroboration_boost
                 from retrieval_ab_logs order by id"""
        ).fetchall()
        assert found == [(None, None, None, None), (0.25, 0.25, 0.25, 0.25)]

    def test_arrays_of_numpy_and_ids_as_text(self, memory: Store, owner: Owner) -> None:
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
        with LogWriter(memory) as writer:
            writer.log(log)
            writer.log(retrieval(rows=arrays))
        found = owner.execute(COLUMNS).fetchall()
        assert [row[:-1] for row in found[:3]] == [row[:-1] for row in found[3:]]
        assert [row[-1] for row in found] == [0.1] * 3 + [None] * 3

    def test_hostile_and_endless_queries_are_logged_as_text(self, memory: Store, owner: Owner) -> None:
        queries = ["'; drop table sessions; --", '{"},{"', "NULL", "a\0b\ud800c", "x" * 100_000, "", ":org_id %s"]
        with LogWriter(memory) as writer:
            for query in queries:
                writer.log(retrieval(1, query_text=query))
        found = [text for (text,) in owner.execute("select query_text from retrieval_ab_logs order by id")]
        assert found == [*queries[:3], "a\ufffdb?c", "x" * LONGEST_QUERY, *queries[5:]]


class TestLost:
    @pytest.mark.parametrize(
        "spoiled",
        [
            {"org_id": "org\0a"},
            {"session_id": "\ud800"},
            {"token_budget": 2**40},
            {"retrieval_id": "no uuid"},
            {"rows": replace(retrieval(2).rows, weight=[1.0])},
            {"rows": replace(retrieval(2).rows, observation_id=["x,y", "z"])},
            {"rows": replace(retrieval(1).rows, unweighted_rank=[2**40])},
            {"rows": replace(retrieval(1).rows, injected=[])},
        ],
        ids=lambda spoiled: next(iter(spoiled)),
    )
    def test_one_that_cannot_be_stored_is_counted_and_the_others_are_written(
        self, memory: Store, owner: Owner, caplog: pytest.LogCaptureFixture, spoiled: dict[str, Any]
    ) -> None:
        good = [retrieval(3) for _ in range(4)]
        # held back until all are queued, so that they share a batch
        with LogWriter(memory) as writer, writer._changed:
            for log in (*good[:2], retrieval(**spoiled), *good[2:]):
                assert log_retrieval_ab(log, writer)
        assert logged(owner) == injections(owner) == {log.retrieval_id: 3 for log in good}
        assert writer.counts() == LogCounts(written=4, rows=12, failed=1)
        assert [record.levelname for record in caplog.records if "may be lost" in record.message] == ["WARNING"]

    def test_a_full_queue_drops_counts_and_does_not_wait(
        self, memory: Store, owner: Owner, cluster: Cluster, store_database: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        first, waiting, late = retrieval(10), [retrieval(10) for _ in range(5)], [retrieval(10) for _ in range(3)]
        # ten candidates and the injection each
        writer = LogWriter(memory, capacity=55)
        with psycopg.connect(cluster.plain_url("postgres", store_database)) as blocker:
            blocker.execute("lock table context_injection_logs")
            assert writer.log(first)
            await_blocked(owner)
            assert [writer.log(log) for log in waiting] == [True] * 5
            assert [writer.log(log) for log in late] == [False] * 3
            assert writer.counts() == LogCounts(queued=6, dropped=3)
        assert writer.stop() == LogCounts(written=6, rows=60, dropped=3)
        assert logged(owner) == {log.retrieval_id: 10 for log in (first, *waiting)}
        assert [record.message.split(";")[0] for record in caplog.records if record.levelname == "WARNING"] == [
            "retrieval log: full"
        ]

    def test_those_that_found_nothing_fill_the_queue_too(
        self, memory: Store, owner: Owner, cluster: Cluster, store_database: str
    ) -> None:
        writer = LogWriter(memory, capacity=10)
        with psycopg.connect(cluster.plain_url("postgres", store_database)) as blocker:
            blocker.execute("lock table context_injection_logs")
            assert writer.log(retrieval(0))
            await_blocked(owner)
            assert sum(writer.log(retrieval(0)) for _ in range(100)) == 10
        assert writer.stop() == LogCounts(written=11, rows=0, dropped=90)

    def test_one_larger_than_the_queue_is_taken_alone(self, memory: Store, owner: Owner) -> None:
        log = retrieval(200)
        with LogWriter(memory, capacity=50) as writer:
            assert writer.log(log)
        assert logged(owner) == {log.retrieval_id: 200}

    def test_what_comes_after_the_stop_is_dropped(self, memory: Store, owner: Owner) -> None:
        writer = LogWriter(memory)
        writer.log(retrieval(2))
        writer.stop()
        assert not writer.log(retrieval(2))
        assert writer.stop() == LogCounts(written=1, rows=2, dropped=1)
        assert len(logged(owner)) == 1

    def test_a_stop_gives_up_at_its_limit_and_counts_what_is_left(
        self, memory: Store, owner: Owner, cluster: Cluster, store_database: str
    ) -> None:
        writer = LogWriter(memory)
        with psycopg.connect(cluster.plain_url("postgres", store_database)) as blocker:
            blocker.execute("lock table context_injection_logs")
            writer.log(retrieval(5))
            await_blocked(owner)
            for _ in range(3):
                writer.log(retrieval(5))
            counts = writer.stop(limit=0.2)
        assert counts == LogCounts(failed=1, dropped=3)
        assert logged(owner) == {}

    def test_without_the_right_to_write_all_is_counted_and_warned_of_once(
        self, cluster: Cluster, store_database: str, owner: Owner, caplog: pytest.LogCaptureFixture
    ) -> None:
        reader = memory_store(cluster, store_database, role="dash_write")
        with LogWriter(reader) as writer:
            for _ in range(5):
                assert log_retrieval_ab(retrieval(), writer)
        reader.close()
        assert writer.counts() == LogCounts(failed=5)
        assert logged(owner) == {}
        assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1

    @pytest.mark.usefixtures("_no_process_writer")
    def test_a_log_without_a_writer_says_so_once(self, caplog: pytest.LogCaptureFixture) -> None:
        assert [log_retrieval_ab(retrieval()) for _ in range(3)] == [False] * 3
        assert len(caplog.records) == 1

    def test_nothing_that_is_handed_over_raises(self, memory: Store) -> None:
        with LogWriter(memory) as writer:
            assert not log_retrieval_ab(None, writer)  # type: ignore[arg-type]
            assert not log_retrieval_ab(retrieval(rows=None), writer)


class TestScope:
    def test_a_writer_logs_for_its_own_organizations_alone(self, memory: Store, owner: Owner) -> None:
        mine, foreign = retrieval(2), retrieval(2, org="org_b")
        with LogWriter(memory, Reach(("org_a",))) as writer, writer._changed:
            writer.log(foreign)
            writer.log(mine)
        assert logged(owner) == injections(owner) == {mine.retrieval_id: 2}
        assert writer.counts() == LogCounts(written=1, rows=2, failed=1)

    def test_row_security_refuses_what_the_transaction_s_scope_does_not_hold(self, memory: Store, owner: Owner) -> None:
        change = WriteRetrievals((retrieval(2, org="org_b"),))
        for reach in (Reach(("org_a",)), Reach(())):
            with pytest.raises(StoreError) as refused, memory.writing(reach) as connection:
                change.apply(connection)
            assert (refused.value.kind, logged(owner)) == ("privilege", {})

    def test_a_batch_reaches_only_the_organizations_it_names(self) -> None:
        change = WriteRetrievals((retrieval(org="org_b"), retrieval(org="org_a"), retrieval(org="org_b")))
        assert change.reach == Reach(("org_a", "org_b"))


class TestHealth:
    def test_another_process_reads_what_was_written_and_lost(self, memory: Store, store: Store, owner: Owner) -> None:
        with LogWriter(memory, name="agents") as writer, writer._changed:
            for log in (retrieval(3), retrieval(4), retrieval(5, org="org_b"), retrieval(token_budget=2**40)):
                writer.log(log)
        with LogWriter(memory) as second:
            second.log(retrieval(1))
        answer = store.ask(LogHealth(WINDOW))
        assert answer["started_at"].tolist() == [writer.started_at] * 2  # the earlier of two processes
        found = answer.drop(columns=["started_at", "seen_at"]).values.tolist()
        assert [row[:-1] for row in found] == [["org_a", 2, 0, 3, 8, 0, 1], ["org_b", 1, 0, 1, 5, 0, 0]]
        assert found[0][-1] == "data"
        assert log_totals(store, 1.0) == {"queued": 0, "written": 4, "rows": 13, "dropped": 0, "failed": 1}
        assert owner.execute("select distinct name from rankscope.log_writers where org_id = 'org_b'").fetchall() == [
            ("agents",)
        ]

    def test_a_viewer_reads_of_his_own_organizations(self, memory: Store, store: Store) -> None:
        with LogWriter(memory) as writer:
            writer.log(retrieval())
            writer.log(retrieval(org="org_b"))
        mine = replace(WINDOW, reach=Reach(("org_b",)))
        assert store.ask(LogHealth(mine))["org_id"].tolist() == ["org_b"]

    def test_a_store_without_our_table_is_logged_to_and_tells_nothing(
        self, memory: Store, store: Store, owner: Owner
    ) -> None:
        owner.execute("drop table rankscope.log_writers")
        with LogWriter(memory) as writer:
            writer.log(retrieval(2))
        assert writer.counts() == LogCounts(written=1, rows=2)
        assert log_totals(store, 1.0) is None

    def test_a_loss_is_reported_although_nothing_is_written(self, memory: Store, store: Store) -> None:
        with LogWriter(memory) as writer:
            writer.log(retrieval(token_budget=2**40))
        assert log_totals(store, 1.0) == {"queued": 0, "written": 0, "rows": 0, "dropped": 0, "failed": 1}


class TestProcess:
    @pytest.mark.usefixtures("_no_process_writer")
    def test_a_second_start_lets_the_first_finish(self, memory: Store, owner: Owner) -> None:
        start_log_writer(memory)
        one, two = retrieval(), retrieval()
        assert log_retrieval_ab(one)
        start_log_writer(memory)
        assert log_retrieval_ab(two)
        start_log_writer(memory).stop()
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
        self, memory: Store, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO, "rankscope.retrieval")
        with LogWriter(memory) as writer:
            for _ in range(2):
                writer.log(retrieval(token_budget=2**40))
                writer.flush()
                for _ in range(2):
                    writer.log(retrieval())
                    writer.flush()
        assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"] * 2


def await_blocked(owner: Owner) -> None:
    """Wait until the memory's login waits for a lock."""
    waiting = """select count(*) > 0 from pg_stat_activity
                  where usename = 'memory_write' and datname = current_database() and wait_event_type = 'Lock'"""
    while owner.execute(waiting).fetchone() != (True,):
        pass
