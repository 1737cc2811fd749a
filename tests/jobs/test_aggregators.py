"""Aggregators as processes of their own: in company, interrupted, and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.jobs.aggregated import RUNS, change, plant
from tests.jobs.command import ROOT, SETTINGS
from tests.jobs.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cluster
    from tests.jobs.aggregated import Aggregate

    Owner = psycopg.Connection[Any]

# Holds one scope's pass after its run and clusters are written: one row of its fingerprints is someone else's.
HOLD = "select 1 from rankscope.simhashes where org_id = 'org_a' for update"
HELD = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"


@contextmanager
def aggregator(logins: dict[str, str], *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The job in a process of its own, killed afterwards if it still runs."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    process = subprocess.Popen(
        [sys.executable, "-m", "jobs", "aggregate", *arguments],
        cwd=ROOT,
        env=inherited | logins,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=30)


@contextmanager
def held(cluster: Cluster, database: str) -> Iterator[None]:
    """Whoever stores the fingerprints of org_a waits for as long as this lasts."""
    with psycopg.connect(cluster.plain_url("postgres", database)) as blocker:
        blocker.execute(HOLD)
        yield


def waits(owner: Owner) -> bool:
    return owner.execute(HELD).fetchone() == (1,)


class TestCompany:
    def test_two_at_once_share_the_work_and_never_a_scope(
        self, cluster: Cluster, store_database: str, logins: dict[str, str], aggregate: Aggregate, owner: Owner
    ) -> None:
        plant(owner, "org_a", "org_b")
        aggregate()
        change(owner, "org_a")
        change(owner, "org_b")
        with aggregator(logins) as other:
            with held(cluster, store_database):
                wait_until(lambda: waits(owner))
                code, lines = aggregate()
                assert code == 0
                assert lines[0] == "org_a / api: another aggregator is at work on it, left alone"
                assert lines[1].startswith("org_b / api: 1 clusters")
            out, _ = other.communicate(timeout=60)
        assert other.returncode == 0
        assert out.splitlines()[0].startswith("org_a / api: 1 clusters")
        assert out.splitlines()[1].startswith("org_b / api: unchanged")
        assert owner.execute(RUNS).fetchall() == [("org_a", "api", "done")] * 2 + [("org_b", "api", "done")] * 2

    def test_many_at_once_leave_one_new_result_each(self, logins: dict[str, str], owner: Owner) -> None:
        orgs = [f"org_{at}" for at in range(6)]
        plant(owner, *orgs)
        with aggregator(logins) as one, aggregator(logins) as two, aggregator(logins) as three:
            said = [process.communicate(timeout=120)[0] for process in (one, two, three)]
        assert [process.returncode for process in (one, two, three)] == [0, 0, 0]
        assert sum(line.count("1 clusters") for line in said) == 6
        assert owner.execute(RUNS).fetchall() == [(org, "api", "done") for org in orgs]


@pytest.mark.long
class TestEnding:
    def test_sigterm_ends_it_after_the_current_scope(
        self, cluster: Cluster, store_database: str, logins: dict[str, str], aggregate: Aggregate, owner: Owner
    ) -> None:
        plant(owner, "org_a", "org_b")
        aggregate()
        change(owner, "org_a")
        change(owner, "org_b")
        with aggregator(logins, "--every", "60") as job:
            with held(cluster, store_database):
                wait_until(lambda: waits(owner))
                job.send_signal(signal.SIGTERM)
            out, err = job.communicate(timeout=30)
        assert (job.returncode, err) == (0, "")
        assert [line.partition(",")[0] for line in out.splitlines()] == [
            "org_a / api: 1 clusters with 3 of 4 observations"
        ]
        assert owner.execute(RUNS).fetchall() == [("org_a", "api", "done")] * 2 + [("org_b", "api", "done")]

    def test_sigterm_ends_its_wait_for_the_next_pass(self, logins: dict[str, str], owner: Owner) -> None:
        plant(owner, "org_a")
        with aggregator(logins, "--every") as job:
            assert job.stdout is not None
            assert job.stdout.readline().startswith("org_a / api: 1 clusters")
            job.send_signal(signal.SIGTERM)
            assert job.wait(20) == 0

    def test_kill_9_in_the_middle_leaves_the_earlier_result_standing(
        self, cluster: Cluster, store_database: str, logins: dict[str, str], aggregate: Aggregate, owner: Owner
    ) -> None:
        plant(owner, "org_a")
        aggregate()
        tables = ("aggregation_runs", "clusters", "contradictions", "simhashes")
        image = [f"select t::text from rankscope.{table} t order by 1".encode() for table in tables]  # noqa: S608 - our own names
        before = [owner.execute(statement).fetchall() for statement in image]
        change(owner, "org_a")
        with held(cluster, store_database), aggregator(logins) as job:
            wait_until(lambda: waits(owner))
            job.kill()
            job.wait(20)
        wait_until(lambda: not waits(owner))
        assert [owner.execute(statement).fetchall() for statement in image] == before
        code, lines = aggregate()
        assert (code, lines[0].partition(",")[0]) == (0, "org_a / api: 1 clusters with 3 of 4 observations")

    def test_a_store_that_goes_away_is_waited_for(self, logins: dict[str, str], owner: Owner) -> None:
        plant(owner, "org_a")
        owner.execute("alter table rankscope.aggregation_runs rename to elsewhere")
        with aggregator(logins, "--every", "1") as job:
            assert job.stderr is not None
            assert job.stdout is not None
            assert "no pass: The store lacks a table" in job.stderr.readline()
            owner.execute("alter table rankscope.elsewhere rename to aggregation_runs")
            assert job.stdout.readline().startswith("org_a / api: 1 clusters")
            # gone for sure: one that dies late would be met by the pass that is to find a new connection
            gone = owner.execute(
                "select pg_terminate_backend(pid, 20000) from pg_stat_activity where usename like 'dash%'"
            )
            assert all(ended for (ended,) in gone)
            assert job.stdout.readline().startswith("org_a / api: unchanged")
            job.send_signal(signal.SIGTERM)
            assert job.wait(20) == 0
