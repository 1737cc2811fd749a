"""Faults of the database as the pages meet them: REC-1 to 4, 6 and 8 of the bar."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from sqlalchemy import text

from queries.connections import PAUSE, DeadlineConnection, answers
from queries.engine import LIST, Store, make_engine
from queries.errors import NOT_ANSWERING, UNREACHABLE, StoreError
from queries.organizations import Organizations
from queries.scope import EVERYTHING, Scope
from tests import sample
from tests.queries.failing import failure

if TYPE_CHECKING:
    import psycopg

    from tests.conftest import Cluster

ROOT = Path(__file__).parents[2]
SCOPE = Scope(EVERYTHING, sample.TODAY - timedelta(days=30), sample.TODAY + timedelta(days=365))


def kill_all(*processes: psutil.Process) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):  # one that ends because another was killed
            process.kill()


class TestSlow:
    def test_a_slow_question_ends_at_its_limit_and_the_connection_lives(self, store: Store) -> None:
        """REC-3: a message at the limit plus 1.5 s at most."""
        with store.reading(EVERYTHING) as connection:
            backend = connection.execute(text("select pg_backend_pid()")).scalar_one()
        error, seconds = failure(store, "select pg_sleep(20)")
        assert error.sqlstate == "57014"
        assert LIST <= seconds <= LIST + 1.5
        with store.reading(EVERYTHING) as connection:
            assert connection.execute(text("select pg_backend_pid()")).scalar_one() == backend

    def test_the_query_of_a_killed_process_ends(self, cluster: Cluster, store_database: str) -> None:
        """REC-6: within 3 s the server notices that nobody waits for the answer."""
        program = """
import sys
from sqlalchemy import text
from queries.engine import Store, make_engine
from queries.scope import EVERYTHING

with Store(make_engine(sys.argv[1], name="doomed")).reading(EVERYTHING, 60) as connection:
    connection.execute(text("select pg_sleep(50)"))
"""
        process = subprocess.Popen([sys.executable, "-c", program, cluster.url("dash_read", store_database)], cwd=ROOT)
        running = "select count(*) from pg_stat_activity where application_name = 'doomed' and state = 'active'"
        until = time.monotonic() + 20
        while cluster.run(running) != [(1,)]:
            assert time.monotonic() < until
            time.sleep(0.05)
        process.kill()
        process.wait()
        killed = time.monotonic()
        while cluster.run(running) != [(0,)]:
            assert time.monotonic() - killed < 3
            time.sleep(0.05)


class TestFrozen:
    def test_a_stopped_server_does_not_hold_the_page(self, own_cluster: Cluster) -> None:
        """REC-4: no answer within 10 s, whether it stopped before or during the question; works again afterwards."""
        store = Store(make_engine(own_cluster.url(), name="frozen"))
        with store.reading(EVERYTHING) as connection:
            backend = connection.execute(text("select pg_backend_pid()")).scalar_one()
        processes = [own_cluster.lease.pid, backend]
        for pid in processes:
            os.kill(int(pid or 0), signal.SIGSTOP)
        try:
            error, seconds = failure(store, "select 1")
            assert error.sentence in (NOT_ANSWERING, UNREACHABLE)
            assert seconds < 10
        finally:
            for pid in processes:
                os.kill(int(pid or 0), signal.SIGCONT)
        with store.reading(EVERYTHING) as connection:
            assert connection.execute(text("select 1")).scalar_one() == 1
        store.close()

    def test_an_idle_connection_that_no_longer_answers_is_replaced(self, own_cluster: Cluster) -> None:
        """As behind a firewall that forgot it: neither closed nor answering, while the server is well."""
        store = Store(make_engine(own_cluster.url(), name="forgotten"))
        with store.reading(EVERYTHING) as connection:
            backend = connection.execute(text("select pg_backend_pid()")).scalar_one()
        time.sleep(PAUSE + 0.1)
        os.kill(backend, signal.SIGSTOP)
        try:
            with store.reading(EVERYTHING) as connection:
                assert connection.execute(text("select pg_backend_pid()")).scalar_one() != backend
        finally:
            os.kill(backend, signal.SIGCONT)
            store.close()

    def test_a_server_that_stops_during_the_question(self, own_cluster: Cluster) -> None:
        store = Store(make_engine(own_cluster.url(), name="frozen"))
        with store.reading(EVERYTHING) as connection:
            backend = connection.execute(text("select pg_backend_pid()")).scalar_one()
        freeze = threading.Timer(0.3, os.kill, (backend, signal.SIGSTOP))
        freeze.start()
        try:
            error, seconds = failure(store, "select pg_sleep(0.8)", limit=2.0)
        finally:
            freeze.join()
            os.kill(backend, signal.SIGCONT)
        assert (error.kind, error.sentence) == ("silent", NOT_ANSWERING)
        assert 3 < seconds < 6
        assert answers(store.reader, limit=1.0)
        store.close()


class TestKilled:
    def test_a_read_is_repeated_on_a_new_connection(
        self, store: Store, cluster: Cluster, owner: psycopg.Connection[Any]
    ) -> None:
        """A backend that died between two pages is never noticed: its first statement gets a new connection."""
        sample.add_organization(owner, "org_a")
        assert list(store.ask(Organizations(SCOPE))["id"]) == ["org_a"]
        cluster.run("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'dash_read'")
        assert list(store.ask(Organizations(SCOPE))["id"]) == ["org_a"]

    @pytest.mark.parametrize("rounds", [3, pytest.param(20, marks=[pytest.mark.long, pytest.mark.timeout(600)])])
    def test_after_kill_9_of_the_server_the_same_store_works_again(self, own_cluster: Cluster, rounds: int) -> None:
        """REC-2: no new store, no connection left over, no memory kept."""
        store = Store(make_engine(own_cluster.url(), name="survivor", pool=2, overflow=0))
        before = psutil.Process().memory_info().rss
        for _ in range(rounds):
            with store.reading(EVERYTHING) as connection:
                connection.execute(text("select 1"))
            killed = int(own_cluster.lease.pid or 0)
            os.kill(killed, signal.SIGKILL)
            until = time.monotonic() + 20
            while own_cluster.lease.pid in (None, killed) or not answers(store.reader, limit=1.0):
                assert time.monotonic() < until
                time.sleep(0.1)
        count = "select count(*) from pg_stat_activity where application_name = 'survivor'"
        assert own_cluster.run(count)[0][0] in (1, 2)
        assert psutil.Process().memory_info().rss - before < 20 * 2**20
        store.close()

    def test_kill_9_in_the_middle_of_a_question(self, own_cluster: Cluster) -> None:
        """REC-1: a plain sentence within 2 s."""
        store = Store(make_engine(own_cluster.url(), name="cut"))
        with store.reading(EVERYTHING) as connection:
            connection.execute(text("select 1"))
        postmaster = psutil.Process(own_cluster.lease.pid)
        threading.Timer(0.5, kill_all, (*postmaster.children(), postmaster)).start()
        error, seconds = failure(store, "select pg_sleep(20)", limit=30)
        assert error.kind in ("connection", "restarting", "unreachable")
        assert seconds < 2.5
        own_cluster.lease.ensure()
        store.close()


class TestLimits:
    def test_a_login_without_settings_of_its_own_has_them_in_every_transaction(
        self, cluster: Cluster, store_database: str
    ) -> None:
        store = Store(make_engine(cluster.url("postgres", store_database), name="limits"))
        with store.reading(EVERYTHING, limit=2.0) as connection:
            shown = {
                name: connection.execute(text("select current_setting(:name)"), {"name": name}).scalar_one()
                for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "TimeZone",
                             "client_connection_check_interval", "transaction_read_only", "transaction_isolation")
            }  # fmt: skip
        store.close()
        assert shown == {
            "statement_timeout": "2s", "lock_timeout": "1s", "idle_in_transaction_session_timeout": "10s",
            "TimeZone": "UTC", "client_connection_check_interval": "1s", "transaction_read_only": "on",
            "transaction_isolation": "repeatable read",
        }  # fmt: skip


class TestPoolExhausted:
    def test_it_waits_then_says_busy_then_recovers(self, cluster: Cluster, store_database: str) -> None:
        """REC-8."""
        store = Store(make_engine(cluster.url("dash_read", store_database), name="busy", pool=1, overflow=0))
        with store.reading(EVERYTHING):
            started = time.perf_counter()
            with pytest.raises(StoreError) as caught, store.reading(EVERYTHING):
                pass
            assert caught.value.kind == "busy"
            assert time.perf_counter() - started < 6
        with store.reading(EVERYTHING) as connection:
            assert connection.execute(text("select 1")).scalar_one() == 1
        store.close()


class TestName:
    def test_a_question_names_itself_while_it_runs_and_no_longer(self, store: Store) -> None:
        shown = text("select application_name from pg_stat_activity where pid = pg_backend_pid()")
        with store.reading(EVERYTHING, name="Overview") as connection:
            assert connection.execute(shown).scalar_one() == "rankscope Overview"
        with store.reading(EVERYTHING) as connection:
            assert connection.execute(shown).scalar_one() == "test"


class TestDeadline:
    def test_the_ping_before_a_question_waits_a_second_at_most(self, store: Store) -> None:
        with store.reading(EVERYTHING, limit=30) as connection:
            raw = connection.connection.driver_connection
            assert isinstance(raw, DeadlineConnection)
            assert raw.deadline == 32
        assert raw.deadline == 1
