"""What cannot be logged is counted and warned of; neither its caller nor the others notice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from retrieval.log import LogCounts, LogWriter, log_retrieval_ab
from tests.retrieval.logs import injections, logged, memory_store, retrieval

if TYPE_CHECKING:
    from queries.engine import Store
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]


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
        self, platform: Store, owner: Owner, caplog: pytest.LogCaptureFixture, spoiled: dict[str, Any]
    ) -> None:
        good = [retrieval(3) for _ in range(4)]
        # held back until all are queued, so that they share a batch
        with LogWriter(platform) as writer, writer._changed:
            for log in (*good[:2], retrieval(**spoiled), *good[2:]):
                assert log_retrieval_ab(log, writer)
        assert logged(owner) == injections(owner) == {log.retrieval_id: 3 for log in good}
        assert writer.counts() == LogCounts(written=4, rows=12, failed=1)
        assert [record.levelname for record in caplog.records if "may be lost" in record.message] == ["WARNING"]

    def test_a_full_queue_drops_counts_and_does_not_wait(
        self, platform: Store, owner: Owner, cluster: Cluster, store_database: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        first, waiting, late = retrieval(10), [retrieval(10) for _ in range(5)], [retrieval(10) for _ in range(3)]
        # ten candidates and the injection each
        writer = LogWriter(platform, capacity=55)
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
        self, platform: Store, owner: Owner, cluster: Cluster, store_database: str
    ) -> None:
        writer = LogWriter(platform, capacity=10)
        with psycopg.connect(cluster.plain_url("postgres", store_database)) as blocker:
            blocker.execute("lock table context_injection_logs")
            assert writer.log(retrieval(0))
            await_blocked(owner)
            assert sum(writer.log(retrieval(0)) for _ in range(100)) == 10
        assert writer.stop() == LogCounts(written=11, rows=0, dropped=90)

    def test_one_larger_than_the_queue_is_taken_alone(self, platform: Store, owner: Owner) -> None:
        log = retrieval(200)
        with LogWriter(platform, capacity=50) as writer:
            assert writer.log(log)
        assert logged(owner) == {log.retrieval_id: 200}

    def test_what_comes_after_the_stop_is_dropped(self, platform: Store, owner: Owner) -> None:
        writer = LogWriter(platform)
        writer.log(retrieval(2))
        writer.stop()
        assert not writer.log(retrieval(2))
        assert writer.stop() == LogCounts(written=1, rows=2, dropped=1)
        assert len(logged(owner)) == 1

    def test_a_stop_gives_up_at_its_limit_and_counts_what_is_left(
        self, platform: Store, owner: Owner, cluster: Cluster, store_database: str
    ) -> None:
        writer = LogWriter(platform)
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

    def test_nothing_that_is_handed_over_raises(self, platform: Store) -> None:
        with LogWriter(platform) as writer:
            assert not log_retrieval_ab(None, writer)  # type: ignore[arg-type]
            assert not log_retrieval_ab(retrieval(rows=None), writer)


def await_blocked(owner: Owner) -> None:
    """Wait until the memory's login waits for a lock."""
    waiting = """select count(*) > 0 from pg_stat_activity
                  where usename = 'memory_write' and datname = current_database() and wait_event_type = 'Lock'"""
    while owner.execute(waiting).fetchone() != (True,):
        pass
