"""Whatever is killed in the middle of a write, a retrieval's rows are all there, once, or not at all."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import psycopg
import pytest
from sqlalchemy import event

from queries.engine import make_engine
from queries.migrate import migrate
from retrieval.log import LogCounts, LogWriter
from tests.conftest import start_cluster, stop_cluster
from tests.retrieval.killed import kill_server
from tests.retrieval.logs import injections, logged, memory_store, retrieval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

ROOT = Path(__file__).parents[2]
GATE = 4711
# Holds a write up at the candidate with this rank: some of the retrieval's rows are in, some are not.
HOLD_UP = f"""
create function hold_up() returns trigger language plpgsql security definer as $$
begin
  if new.unweighted_rank = 10 and new.session_id = 'held' then
    perform pg_advisory_xact_lock_shared({GATE});
  end if;
  return new;
end $$;
create {{kind}} trigger hold_up {{moment}} insert on retrieval_ab_logs {{deferred}}
  for each row execute function hold_up();
"""
IN_THE_MIDDLE = HOLD_UP.format(kind="", moment="before", deferred="")
AT_COMMIT = HOLD_UP.format(kind="constraint", moment="after", deferred="deferrable initially deferred")
HELD = """select count(*) from pg_stat_activity where usename = 'memory_write' and datname = current_database()
           and wait_event = 'advisory'"""
WRITER = """
import sys
from queries.engine import Store, make_engine
from retrieval.log import LogWriter
from tests.retrieval.logs import retrieval

engine = make_engine(sys.argv[1], name="doomed")
writer = LogWriter(Store(engine, engine))
print("ready", flush=True)
for _ in range(int(sys.argv[2])):
    writer.log(retrieval(20))
    writer.flush(0.001)
writer.flush(60)
writer.log(retrieval(20, session="held"))
sys.stdin.read()
"""


@contextmanager
def closed_gate(cluster: Cluster, database: str) -> Iterator[Owner]:
    """Who reaches the gate waits until this ends."""
    with psycopg.connect(cluster.plain_url("postgres", database), autocommit=True) as keeper:
        keeper.execute("select pg_advisory_lock(%s)", (GATE,))
        yield keeper


def eventually(owner: Owner, statement: str, expected: int) -> None:
    until = time.monotonic() + 30
    while owner.execute(statement.encode()).fetchone() != (expected,):
        assert time.monotonic() < until, statement
        time.sleep(0.01)


def are_whole(owner: Owner) -> set[Any]:
    """The retrievals that are there, each with its 20 candidates and its injection."""
    rows = logged(owner)
    assert rows == injections(owner)
    assert set(rows.values()) <= {20}
    return set(rows)


@pytest.mark.long
class TestWriterKilled:
    def test_in_the_middle_of_a_retrieval_s_rows(self, cluster: Cluster, store_database: str, owner: Owner) -> None:
        owner.execute(IN_THE_MIDDLE.encode())
        url = cluster.url("memory_write", store_database)
        with closed_gate(cluster, store_database) as gate:
            process = subprocess.Popen([sys.executable, "-c", WRITER, url, "5"], cwd=ROOT, stdin=-1, stdout=-1)
            eventually(owner, HELD, 1)
            process.kill()
            process.communicate()
            # the server still holds half of it, which nobody else sees
            assert len(are_whole(owner)) == 5
            gate.execute("select pg_advisory_unlock(%s)", (GATE,))
        eventually(owner, "select count(*) from pg_stat_activity where application_name like '%retrieval log%'", 0)
        assert len(are_whole(owner)) in (5, 6)

    def test_at_any_moment(self, cluster: Cluster, store_database: str, owner: Owner) -> None:
        draw = random.Random(5)  # noqa: S311 - the same moments every time
        url = cluster.url("memory_write", store_database)
        for _ in range(6):
            before = len(are_whole(owner))
            process = subprocess.Popen([sys.executable, "-c", WRITER, url, "100000"], cwd=ROOT, stdin=-1, stdout=-1)
            assert process.stdout
            assert process.stdout.readline() == b"ready\n"
            while len(logged(owner)) == before:
                time.sleep(0.01)
            time.sleep(draw.uniform(0, 0.2))
            process.kill()
            process.communicate()
            eventually(owner, "select count(*) from pg_stat_activity where application_name = 'doomed'", 0)
            assert len(are_whole(owner)) > before


class TestConnectionCut:
    def test_while_it_commits_the_retry_finds_it_there(
        self, cluster: Cluster, store_database: str, owner: Owner
    ) -> None:
        """FLG-3's case: the client never learns whether its transaction was committed."""
        owner.execute(AT_COMMIT.encode())
        memory = memory_store(cluster, store_database)
        used: list[psycopg.Connection[Any]] = []
        assert memory.writer
        event.listen(memory.writer, "checkout", lambda raw, _record, _proxy: used.append(raw))
        log = retrieval(20, session="held")
        with LogWriter(memory) as writer:
            with closed_gate(cluster, store_database):
                writer.log(log)
                eventually(owner, HELD, 1)
                with socket.socket(fileno=os.dup(used[-1].fileno())) as line:
                    line.shutdown(socket.SHUT_RDWR)
            assert writer.flush(30)
        memory.close()
        assert are_whole(owner) == {log.retrieval_id}
        assert writer.counts() == LogCounts(written=1, rows=20)

    def test_backends_ended_while_it_writes(self, cluster: Cluster, store_database: str, owner: Owner) -> None:
        memory = memory_store(cluster, store_database)
        logs = [retrieval(20) for _ in range(400)]
        end = "select count(pg_terminate_backend(pid)) from pg_stat_activity where usename = 'memory_write'"
        with LogWriter(memory) as writer:
            for number, log in enumerate(logs):
                writer.log(log)
                if number % 100 == 50:
                    owner.execute(end.encode())
            assert writer.flush(30)
        memory.close()
        assert are_whole(owner) == {log.retrieval_id for log in logs}
        assert writer.counts() == LogCounts(written=400, rows=8000)


@pytest.mark.long
class TestDatabaseKilled:
    @pytest.fixture
    def own_cluster(self) -> Iterator[Cluster]:
        made = start_cluster(durable=True)  # what was committed has to survive
        made.run("create database rankscope")
        engine = make_engine(made.url(database="rankscope"), name="prepare")
        migrate(engine, create_store=True)
        engine.dispose()
        yield made
        stop_cluster(made)

    def test_in_the_middle_of_a_write_nothing_is_lost_or_doubled(
        self, own_cluster: Cluster, caplog: pytest.LogCaptureFixture
    ) -> None:
        own_cluster.run(IN_THE_MIDDLE, "rankscope")
        memory = memory_store(own_cluster, "rankscope")
        first, held, meanwhile = retrieval(20), retrieval(20, session="held"), [retrieval(20) for _ in range(30)]
        with LogWriter(memory, retry_for=60) as writer:
            writer.log(first)
            assert writer.flush()
            with suppress(psycopg.OperationalError), closed_gate(own_cluster, "rankscope") as gate:
                writer.log(held)
                eventually(gate, HELD, 1)
                kill_server(own_cluster)
            for log in meanwhile:
                assert writer.log(log)
            own_cluster.lease.ensure()
            assert writer.flush(60)
        memory.close()
        with psycopg.connect(own_cluster.plain_url("postgres", "rankscope"), autocommit=True) as owner:
            assert are_whole(owner) == {log.retrieval_id for log in (first, held, *meanwhile)}
            (reported,) = owner.execute("select queued, written, rows, dropped, failed from rankscope.log_writers")
        assert reported == (0, 32, 640, 0, 0)
        assert writer.counts() == LogCounts(written=32, rows=640)
        warned = [record.message for record in caplog.records if record.levelname == "WARNING"]
        assert len(warned) == len(set(warned)) >= 1

    def test_for_longer_than_it_is_waited_for(self, own_cluster: Cluster) -> None:
        """What was tried is counted as failed; what comes after the server is back is written, and so is the count."""
        memory = memory_store(own_cluster, "rankscope")
        with LogWriter(memory, retry_for=0.5) as writer:
            with stopped_server(own_cluster):
                writer.log(retrieval(20))
                assert writer.flush(30)
                assert writer.counts() == LogCounts(failed=1)
            log = retrieval(20)
            writer.log(log)
            assert writer.flush(30)
        memory.close()
        with psycopg.connect(own_cluster.plain_url("postgres", "rankscope"), autocommit=True) as owner:
            assert are_whole(owner) == {log.retrieval_id}
            (reported,) = owner.execute("select written, failed, last_failure is not null from rankscope.log_writers")
        assert reported == (1, 1, True)


@contextmanager
def stopped_server(cluster: Cluster) -> Iterator[None]:
    """The server killed, and its keeper kept from starting another."""
    keeper = psutil.Process(cluster.lease._state().keeper)
    os.kill(keeper.pid, signal.SIGSTOP)
    kill_server(cluster)
    try:
        yield
    finally:
        os.kill(keeper.pid, signal.SIGCONT)
        cluster.lease.ensure()
