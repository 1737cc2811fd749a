"""A store is filled with the demo once, whole or not at all, and never over what it holds."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from argparse import Namespace
from typing import TYPE_CHECKING

import psycopg

from jobs.__main__ import run
from jobs.demo import main
from jobs.demo.load import TABLES
from queries.embedded import DATABASE, start
from settings import Settings
from tests.jobs.command import ROOT
from tests.jobs.conftest import filled_now
from tests.jobs.demo.log import LOG
from tests.jobs.stores import rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from tests.conftest import Cluster


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
from jobs.demo.sizes import SMALL
from queries.owner import owning
with owning({owned!r}) as engine, engine.begin() as connection:
    fill(connection, datetime.now(UTC), SMALL)
"""
        indexes = "select indexrelid::regclass::text, obj_description(indexrelid) from pg_index order by 1"
        before = rows(owned, indexes)
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
        assert rows(owned, indexes) == before
        assert rows(owned, "select count(*) from pg_namespace where nspname = 'demo'") == [(0,)]


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
        assert main(Namespace(if_empty=False, size="small", seed="x"), settings) == 0
        ready = r"the demo store is ready: 6 organizations, \d{3} observations, \d,\d{3} log rows\n"
        assert re.fullmatch(ready, capsys.readouterr().out)
        with start(settings.data_folder) as lease:
            address = lease.url("postgres", DATABASE)
            before = rows(address, LOG)
            assert main(Namespace(if_empty=False, size="small", seed="x"), settings) == 0
            assert capsys.readouterr().out == "the store already holds organizations and stays as it is\n"
            assert main(Namespace(if_empty=True, size="small", seed="x"), settings) == 0
            assert capsys.readouterr().out == ""
            assert rows(address, LOG) == before


def wait_until(happened: Callable[[], bool], limit: float = 60.0) -> None:
    until = time.monotonic() + limit
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.05)
