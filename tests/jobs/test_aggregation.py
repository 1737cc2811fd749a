"""``python -m jobs aggregate`` on a real store: alone, in company, interrupted, and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from jobs.__main__ import run
from queries.aggregation_input import AggregationScope
from queries.aggregation_runs import StandingRuns
from queries.scope import Reach
from tests import sample
from tests.jobs.command import ROOT, SETTINGS
from tests.scopes import ALIKE, add_alike, add_observation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from queries.engine import Store
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

API = AggregationScope("org_a", "api")
RUNS = "select org_id, project_id, state from rankscope.aggregation_runs order by 1, 2, id"
# Holds one scope's pass after its run and clusters are written: one row of its fingerprints is someone else's.
HOLD = "select 1 from rankscope.simhashes where org_id = 'org_a' for update"
HELD = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"


@pytest.fixture
def settings(cluster: Cluster, store_database: str) -> dict[str, str]:
    """The logins of a store that is not embedded."""
    return {
        "DATABASE_URL": cluster.url("dash_read", store_database),
        "RANKSCOPE_WRITE_URL": cluster.url("dash_write", store_database),
    }


@pytest.fixture
def aggregate(
    settings: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, list[str]]]:
    """One pass in this process: its exit code and its lines."""
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    def once(*arguments: str) -> tuple[int, list[str]]:
        code = run(["aggregate", *arguments])
        return code, capsys.readouterr().out.splitlines()

    return once


Aggregate = Any


@contextmanager
def aggregator(settings: dict[str, str], *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The job in a process of its own, killed afterwards if it still runs."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    process = subprocess.Popen(
        [sys.executable, "-m", "jobs", "aggregate", *arguments],
        cwd=ROOT,
        env=inherited | settings,
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


def wait_until(happened: Callable[[], bool], limit: float = 30.0) -> None:
    until = time.monotonic() + limit
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.02)


def waits(owner: Owner) -> bool:
    return owner.execute(HELD).fetchone() == (1,)


def change(owner: Owner, org: str) -> None:
    """Change every text of an organization, so that all of it is hashed and stored again."""
    owner.execute("update observations set content = content || ' again' where org_id = %s", (org,))


def plant(owner: Owner, *orgs: str) -> None:
    for org in orgs:
        sample.add_organization(owner, org)
        add_alike(owner, org)


class TestOnce:
    def test_every_scope_has_its_result(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_a", "org_b")
        add_observation(owner, "org_a", "loose", "text", None)
        code, lines = aggregate()
        assert code == 0
        assert [line.partition(", ")[0] for line in lines] == [
            "org_a / no project: 0 clusters with 0 of 1 observations",
            "org_a / api: 1 clusters with 3 of 4 observations",
            "org_b / api: 1 clusters with 3 of 4 observations",
        ]
        assert owner.execute(RUNS).fetchall() == [
            ("org_a", "api", "done"), ("org_a", None, "done"), ("org_b", "api", "done"),
        ]  # fmt: skip

    def test_an_unchanged_scope_is_skipped_and_says_so(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_a", "org_b")
        aggregate()
        before = owner.execute(
            "select id, finished_at, checked_at from rankscope.aggregation_runs order by id"
        ).fetchall()
        change(owner, "org_b")
        code, lines = aggregate()
        assert code == 0
        assert lines[0].startswith("org_a / api: unchanged since ")
        assert lines[0].endswith(" UTC, skipped")
        assert lines[1].startswith("org_b / api: 1 clusters")
        after = owner.execute(
            "select id, finished_at, checked_at from rankscope.aggregation_runs order by id"
        ).fetchall()
        assert after[0][:2] == before[0][:2]
        assert after[0][2] > before[0][2]
        assert len(after) == 3

    def test_one_organization(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_a", "org_b", "org_c")
        code, lines = aggregate("--org", "org_b", "--org", "org_a")
        assert code == 0
        assert [line.partition(":")[0] for line in lines] == ["org_a / api", "org_b / api"]

    def test_a_scope_that_is_gone_takes_its_results_along(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_a", "org_b")
        aggregate()
        owner.execute("delete from organizations where id = 'org_a'")
        _, lines = aggregate()
        assert lines[0] == "org_a / api: no longer in the store, its results were removed"
        for table in ("aggregation_runs", "clusters", "contradictions", "simhashes"):
            left = owner.execute(f"select count(*) from rankscope.{table} where org_id = 'org_a'".encode())  # noqa: S608 - our own names
            assert left.fetchone() == (0,)
        assert len(aggregate()[1]) == 1

    def test_a_scope_that_became_empty_has_an_empty_result(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_a")
        aggregate()
        owner.execute("update observations set status = 'archived'")
        code, lines = aggregate()
        assert (code, lines[0].partition(",")[0]) == (0, "org_a / api: 0 clusters with 0 of 0 observations")


class TestRefusals:
    def test_an_organization_that_is_not_there(
        self, aggregate: Aggregate, owner: Owner, capsys: pytest.CaptureFixture[str]
    ) -> None:
        plant(owner, "org_a")
        assert run(["aggregate", "--org", "org_a", "--org", "typo\x1b"]) == 1
        assert capsys.readouterr().err == "no such organization: typo\\x1b. Nothing was aggregated.\n"
        assert aggregate()[0] == 0

    def test_without_a_write_login(
        self, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("DATABASE_URL", settings["DATABASE_URL"])
        assert run(["aggregate"]) == 1
        assert "set RANKSCOPE_WRITE_URL" in capsys.readouterr().err

    @pytest.mark.parametrize("every", ["0", "-1", "nan", "soon"])
    def test_an_interval_that_is_none(self, every: str, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit):
            run(["aggregate", "--every", every])
        assert "--every" in capsys.readouterr().err


class TestBadScope:
    REFUSE = """create function refuse() returns trigger language plpgsql as
                  $$ begin raise exception 'CANARY' using errcode = '53100'; end $$;
                create trigger refuse before insert on rankscope.clusters
                  for each row when (new.org_id = 'org_b') execute function refuse()"""

    def test_the_others_go_on_and_the_earlier_result_stands(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_a", "org_b", "org_c")
        aggregate()
        standing = owner.execute("select * from rankscope.clusters where org_id = 'org_b'").fetchall()
        owner.execute(self.REFUSE)
        for org in ("org_a", "org_b", "org_c"):
            change(owner, org)
        for _ in range(3):
            code, lines = aggregate()
            assert code == 1
            assert lines[1].startswith("org_b / api: failed. The database is out of memory or disk space.")
        assert lines[2].startswith("org_c / api: unchanged")
        assert owner.execute("select * from rankscope.clusters where org_id = 'org_b'").fetchall() == standing
        states = owner.execute(
            "select state, error like 'The database is out%' from rankscope.aggregation_runs where org_id = 'org_b'"
        ).fetchall()
        assert sorted(states, key=repr) == [("done", None), ("failed", True)]

    def test_a_failure_is_forgotten_with_the_next_success(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_b")
        owner.execute(self.REFUSE)
        assert aggregate()[0] == 1
        owner.execute("drop trigger refuse on rankscope.clusters")
        assert aggregate()[0] == 0
        assert owner.execute(RUNS).fetchall() == [("org_b", "api", "done")]

    def test_an_error_of_ours_names_its_place_and_no_text(
        self, aggregate: Aggregate, owner: Owner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A fingerprint column that holds what the library refuses is the nearest thing to a bug in it."""
        plant(owner, "org_a", "org_b")
        monkeypatch.setattr("analysis.aggregation.PARTS", ("recency", "missing"))
        add_observation(owner, "org_a", "1", "always run the linter before a push to the shared branch")
        add_observation(owner, "org_a", "2", "never run the linter before a push to the shared branch")
        code, lines = aggregate()
        assert code == 1
        assert lines[0].startswith("org_a / api: failed. The pass ended with AttributeError in aggregation.py, line ")
        assert lines[1].startswith("org_b / api: 1 clusters")


class TestCompany:
    def test_two_at_once_share_the_work_and_never_a_scope(
        self, cluster: Cluster, store_database: str, settings: dict[str, str], aggregate: Aggregate, owner: Owner
    ) -> None:
        plant(owner, "org_a", "org_b")
        aggregate()
        change(owner, "org_a")
        change(owner, "org_b")
        with aggregator(settings) as other:
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

    def test_many_at_once_leave_one_new_result_each(self, settings: dict[str, str], owner: Owner) -> None:
        orgs = [f"org_{at}" for at in range(6)]
        plant(owner, *orgs)
        with aggregator(settings) as one, aggregator(settings) as two, aggregator(settings) as three:
            said = [process.communicate(timeout=120)[0] for process in (one, two, three)]
        assert [process.returncode for process in (one, two, three)] == [0, 0, 0]
        assert sum(line.count("1 clusters") for line in said) == 6
        assert owner.execute(RUNS).fetchall() == [(org, "api", "done") for org in orgs]


@pytest.mark.long
class TestEnding:
    def test_sigterm_ends_it_after_the_current_scope(
        self, cluster: Cluster, store_database: str, settings: dict[str, str], aggregate: Aggregate, owner: Owner
    ) -> None:
        plant(owner, "org_a", "org_b")
        aggregate()
        change(owner, "org_a")
        change(owner, "org_b")
        with aggregator(settings, "--every", "60") as job:
            with held(cluster, store_database):
                wait_until(lambda: waits(owner))
                job.send_signal(signal.SIGTERM)
            out, err = job.communicate(timeout=30)
        assert (job.returncode, err) == (0, "")
        assert [line.partition(",")[0] for line in out.splitlines()] == [
            "org_a / api: 1 clusters with 3 of 4 observations"
        ]
        assert owner.execute(RUNS).fetchall() == [("org_a", "api", "done")] * 2 + [("org_b", "api", "done")]

    def test_sigterm_ends_its_wait_for_the_next_pass(self, settings: dict[str, str], owner: Owner) -> None:
        plant(owner, "org_a")
        with aggregator(settings, "--every") as job:
            assert job.stdout is not None
            assert job.stdout.readline().startswith("org_a / api: 1 clusters")
            job.send_signal(signal.SIGTERM)
            assert job.wait(20) == 0

    def test_kill_9_in_the_middle_leaves_the_earlier_result_standing(
        self, cluster: Cluster, store_database: str, settings: dict[str, str], aggregate: Aggregate, owner: Owner
    ) -> None:
        plant(owner, "org_a")
        aggregate()
        tables = ("aggregation_runs", "clusters", "contradictions", "simhashes")
        image = [f"select t::text from rankscope.{table} t order by 1".encode() for table in tables]  # noqa: S608 - our own names
        before = [owner.execute(statement).fetchall() for statement in image]
        change(owner, "org_a")
        with held(cluster, store_database), aggregator(settings) as job:
            wait_until(lambda: waits(owner))
            job.kill()
            job.wait(20)
        wait_until(lambda: not waits(owner))
        assert [owner.execute(statement).fetchall() for statement in image] == before
        code, lines = aggregate()
        assert (code, lines[0].partition(",")[0]) == (0, "org_a / api: 1 clusters with 3 of 4 observations")

    def test_a_store_that_goes_away_is_waited_for(self, settings: dict[str, str], owner: Owner) -> None:
        plant(owner, "org_a")
        owner.execute("alter table rankscope.aggregation_runs rename to elsewhere")
        with aggregator(settings, "--every", "1") as job:
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


class TestIsolation:
    def test_readers_of_another_organization_never_see_a_result(
        self, aggregate: Aggregate, owner: Owner, store: Store
    ) -> None:
        plant(owner, "org_a", "org_b")
        for org in ("org_a", "org_b"):
            add_observation(owner, org, "1", "always run the linter before a push to the shared branch")
            add_observation(owner, org, "2", "never run the linter before a push to the shared branch")
        assert aggregate()[0] == 0
        for table in ("aggregation_runs", "clusters", "contradictions", "simhashes"):
            statement = f"select distinct org_id from rankscope.{table}".encode()  # noqa: S608 - our own names
            assert len(owner.execute(statement).fetchall()) == 2
        with store.reading(Reach(("org_b",))) as connection:
            assert StandingRuns(API.reach).ask(connection) == {}
            raw = connection.connection.driver_connection
            assert raw is not None
            for table in ("aggregation_runs", "clusters", "contradictions", "simhashes"):
                found = raw.execute(f"select distinct org_id from rankscope.{table}".encode()).fetchall()  # noqa: S608 - same
                assert found == [("org_b",)]

    def test_a_pass_is_bound_to_its_own_organization(self, aggregate: Aggregate, owner: Owner) -> None:
        """Observations that name another's project in the same words are in no way part of it."""
        plant(owner, "org_a")
        sample.add_organization(owner, "org_b")
        add_observation(owner, "org_b", "stray", ALIKE[0])
        aggregate()
        assert owner.execute("select count(*) from rankscope.clusters where org_id = 'org_b'").fetchone() == (0,)
        assert owner.execute("select agents from rankscope.clusters limit 1").fetchone() == (3,)


class TestLogWriters:
    WRITER = """insert into rankscope.log_writers (org_id, writer, name, queued, written, rows, dropped, failed,
                  started_at, seen_at)
                values (%s, gen_random_uuid(), %s, 0, 1, 1, 0, 0, now(), now() - %s * interval '1 day')"""
    LEFT = "select org_id, name from rankscope.log_writers order by 1, 2"

    def test_a_pass_forgets_processes_unseen_for_long(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_a", "org_b")
        for org in ("org_a", "org_b"):
            for name, days in (("now", 0), ("recent", 89), ("ended", 91)):
                owner.execute(self.WRITER, (org, name, days))
        assert aggregate("--org", "org_a")[0] == 0
        left = [("org_a", "now"), ("org_a", "recent"), ("org_b", "ended"), ("org_b", "now"), ("org_b", "recent")]
        assert owner.execute(self.LEFT).fetchall() == left
        aggregate()
        assert ("org_b", "ended") not in owner.execute(self.LEFT).fetchall()

    def test_an_older_schema_keeps_them_and_the_pass_goes_on(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_a")
        owner.execute(self.WRITER, ("org_a", "ended", 91))
        owner.execute("revoke delete on rankscope.log_writers from dash_write")
        assert aggregate()[0] == 0
        assert owner.execute(self.LEFT).fetchall() == [("org_a", "ended")]
