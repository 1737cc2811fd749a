"""The worker and its pool: progress, cancel, limits, one run for many askers, and an end whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from jobs import worker_pool
from jobs.worker import FAILED, NO_MEMORY, TOO_LARGE
from jobs.worker_pool import CANCELLED, ENDED, WorkerPool, too_long
from queries.scope import EVERYTHING, Scope
from tests.app_server import ROOT
from tests.jobs.worker_jobs import REGISTRY, SCOPE, finished, scope_of
from tests.jobs.worker_tasks import SECRET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from jobs.worker_pool import Job, Progress
    from tests.conftest import Cluster


@pytest.fixture(scope="module")
def address(cluster: Cluster, template: str) -> Iterator[str]:
    name = cluster.create(template)
    yield cluster.plain_url("dash_read", name)
    cluster.drop(name)


@pytest.fixture(scope="module")
def pool(address: str) -> Iterator[WorkerPool]:
    """One pool for most tests: whatever one of them does to it, the next finds it at work."""
    made = WorkerPool(address, REGISTRY)
    yield made
    made.close()


def until(holds: Callable[[], Any], limit: float = 30.0) -> Any:  # noqa: ANN401 - whatever it finds
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(0.01)
    raise AssertionError("did not come about in time")


def starts(folder: Path) -> list[int]:
    file = folder / "starts"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


class TestValues:
    def test_a_value_comes_back_with_what_was_asked(self, pool: WorkerPool) -> None:
        job = finished(pool.ask("echo", {"n": 1, "text": "ünï \u2028 \n"}, SCOPE, "v1"))
        assert job.state == "done"
        assert job.value() | {"pid": 0} == {
            "params": {"n": 1, "text": "ünï \u2028 \n"}, "org": None, "reach": ["acme", "birch"], "pid": 0,
        }  # fmt: skip

    def test_each_reader_gets_a_value_of_its_own(self, pool: WorkerPool) -> None:
        job = finished(pool.ask("echo", {"n": 2}, SCOPE, "v1"))
        job.value()["params"]["n"] = "changed"
        assert job.value()["params"]["n"] == 2

    def test_the_next_task_finds_a_warm_process(self, pool: WorkerPool) -> None:
        pids = {finished(pool.ask("echo", {"warm": n}, SCOPE, "v1")).value()["pid"] for n in range(6)}
        assert len(pids) == 1
        assert os.getpid() not in pids

    def test_progress_is_passed_on_as_it_happens(self, pool: WorkerPool) -> None:
        job = pool.ask("steps", {"steps": 4, "seconds": 0.15}, SCOPE, "v1")
        seen: list[Progress] = []
        while not job.over.wait(0.01):
            if job.progress.total and (not seen or seen[-1] != job.progress):
                seen.append(job.progress)
        assert [(p.done, p.total, p.words) for p in seen] == [(n, 4, f"step {n + 1}") for n in range(4)]

    def test_what_a_library_prints_is_no_message(self, pool: WorkerPool) -> None:
        assert finished(pool.ask("prints", {}, SCOPE, "v1")).value() == "real"


class TestSharing:
    def test_two_who_ask_the_same_share_one_run(self, pool: WorkerPool, tmp_path: Path) -> None:
        first = pool.ask("until_released", {"folder": str(tmp_path)}, SCOPE, "v1", who="one")
        second = pool.ask("until_released", {"folder": str(tmp_path)}, SCOPE, "v1", who="other")
        assert first is second
        until(lambda: starts(tmp_path))
        (tmp_path / "go").touch()
        assert finished(first).value() == "released"
        assert len(starts(tmp_path)) == 1

    def test_a_result_is_kept_for_its_data_version(self, pool: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(worker_pool, "FRESH", 0.0)
        first = finished(pool.ask("echo", {"n": 3}, SCOPE, "v1"))
        assert pool.ask("echo", {"n": 3}, SCOPE, "v1") is first
        assert pool.ask("echo", {"n": 3}, SCOPE, "v2") is not first

    def test_whoever_waited_sees_the_result_although_the_data_moved_on(self, pool: WorkerPool, tmp_path: Path) -> None:
        """Otherwise a busy store would keep a page waiting for ever."""
        first = pool.ask("until_released", {"folder": str(tmp_path)}, SCOPE, "v1")
        assert pool.ask("until_released", {"folder": str(tmp_path)}, SCOPE, "v2") is first
        (tmp_path / "go").touch()
        finished(first)
        assert pool.ask("until_released", {"folder": str(tmp_path)}, SCOPE, "v3") is first

    @pytest.mark.parametrize(
        "other", [scope_of("acme"), scope_of("acme", "birch", org="acme"), Scope(EVERYTHING, SCOPE.since, SCOPE.until)]
    )
    def test_another_reach_or_organization_is_another_run(self, pool: WorkerPool, other: Scope) -> None:
        assert pool.ask("echo", {}, SCOPE, "v1") is not pool.ask("echo", {}, other, "v1")

    def test_inside_one_organization_every_reach_shares(self, pool: WorkerPool) -> None:
        job = pool.ask("echo", {}, scope_of("acme", "birch", org="acme"), "v1")
        assert pool.ask("echo", {}, scope_of("acme", "cedar", org="acme"), "v1") is job
        assert finished(job).value()["reach"] == ["acme"]

    def test_results_are_kept_within_a_limit(self, pool: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(worker_pool, "KEPT", 3)
        jobs = [finished(pool.ask("echo", {"kept": n}, SCOPE, "v1")) for n in range(6)]
        assert pool.find(jobs[0].question) is None
        assert pool.find(jobs[-1].question) is jobs[-1]


class TestQueue:
    def test_two_run_at_once_and_the_others_wait_their_turn(self, pool: WorkerPool, tmp_path: Path) -> None:
        folders = [tmp_path / str(n) for n in range(4)]
        for folder in folders:
            folder.mkdir()
        jobs = [pool.ask("until_released", {"folder": str(folder)}, SCOPE, "v1") for folder in folders]
        until(lambda: sum(len(starts(folder)) for folder in folders) == 2)
        assert (pool.waiting, pool.ahead_of(jobs[2]), pool.ahead_of(jobs[3])) == (2, 0, 1)
        assert [job.state for job in jobs] == ["running", "running", "waiting", "waiting"]
        (folders[0] / "go").touch()
        until(lambda: starts(folders[2]))
        assert pool.waiting == 1
        for folder in folders:
            (folder / "go").touch()
        assert [finished(job).value() for job in jobs] == ["released"] * 4

    def test_one_that_waits_can_be_cancelled(self, pool: WorkerPool, tmp_path: Path) -> None:
        running = [pool.ask("until_released", {"folder": str(tmp_path), "n": n}, SCOPE, "v1") for n in range(2)]
        until(lambda: len(starts(tmp_path)) == 2)
        waits = pool.ask("echo", {"waits": 1}, SCOPE, "v1")
        pool.cancel(waits.question)
        assert (waits.state, waits.sentence, pool.waiting) == ("cancelled", CANCELLED, 0)
        (tmp_path / "go").touch()
        assert [finished(job).state for job in running] == ["done", "done"]
        assert waits.state == "cancelled"


class TestCancel:
    def test_the_process_is_gone_and_the_next_task_runs(self, pool: WorkerPool, tmp_path: Path) -> None:
        job = pool.ask("until_released", {"folder": str(tmp_path)}, SCOPE, "v1")
        (pid,) = until(lambda: starts(tmp_path))
        pool.cancel(job.question)
        assert (job.state, job.sentence) == ("cancelled", CANCELLED)
        until(lambda: not psutil.pid_exists(pid))
        assert finished(pool.ask("echo", {"after": pid}, SCOPE, "v1")).state == "done"

    def test_one_of_two_who_wait_does_not_end_it_for_the_other(self, pool: WorkerPool, tmp_path: Path) -> None:
        job = pool.ask("until_released", {"folder": str(tmp_path)}, SCOPE, "v1", who="one")
        pool.ask("until_released", {"folder": str(tmp_path)}, SCOPE, "v1", who="other")
        until(lambda: starts(tmp_path))
        pool.cancel(job.question, who="one")
        assert not job.over.is_set()
        pool.cancel(job.question, who="other")
        assert job.state == "cancelled"

    def test_asked_again_it_runs_again(self, pool: WorkerPool, tmp_path: Path) -> None:
        job = pool.ask("until_released", {"folder": str(tmp_path)}, SCOPE, "v1")
        pool.cancel(job.question)
        (tmp_path / "go").touch()
        again = pool.ask("until_released", {"folder": str(tmp_path)}, SCOPE, "v1")
        assert again is not job
        assert finished(again).value() == "released"

    def test_its_statement_ends_with_it(self, pool: WorkerPool, cluster: Cluster) -> None:
        job = pool.ask("database_sleep", {}, SCOPE, "v1")
        asleep = "select count(*) from pg_stat_activity where application_name = 'rankscope worker asleep'"
        until(lambda: cluster.run(asleep)[0][0] == 1)
        pool.cancel(job.question)
        until(lambda: cluster.run(asleep)[0][0] == 0, limit=5.0)


class TestFailures:
    @pytest.mark.parametrize(
        ("task", "sentence"),
        [
            ("raises", FAILED), ("not_finite", FAILED), ("crashes", ENDED), ("killed", ENDED), ("too_large", TOO_LARGE),
            ("hungry", NO_MEMORY), ("deaf", too_long(1.0)),
        ],
    )  # fmt: skip
    def test_each_has_its_sentence_and_leaves_a_pool_that_works(
        self, pool: WorkerPool, capfd: pytest.CaptureFixture[str], task: str, sentence: str
    ) -> None:
        job = finished(pool.ask(task, {}, SCOPE, "v1", again=True))
        assert (job.state, job.sentence) == ("failed", sentence)
        assert finished(pool.ask("echo", {"after": task}, SCOPE, "v1")).state == "done"
        assert SECRET not in "".join(capfd.readouterr())

    def test_a_failure_is_told_again_and_tried_again_only_when_asked(self, pool: WorkerPool) -> None:
        first = finished(pool.ask("raises", {"n": 1}, SCOPE, "v1"))
        assert pool.ask("raises", {"n": 1}, SCOPE, "v2") is first
        assert pool.ask("raises", {"n": 1}, SCOPE, "v2", again=True) is not first

    def test_a_worker_that_died_between_two_tasks_is_replaced(self, pool: WorkerPool) -> None:
        pids = [finished(pool.ask("echo", {"before": n}, SCOPE, "v1")).value()["pid"] for n in range(4)]
        for pid in set(pids):
            os.kill(pid, signal.SIGKILL)
        after = [finished(pool.ask("echo", {"after": n}, SCOPE, "v1")) for n in range(4)]
        assert [job.state for job in after] == ["done"] * 4

    def test_a_store_that_is_not_there_gives_its_sentence(self) -> None:
        pool = WorkerPool("postgresql://nobody@127.0.0.1:9/none", REGISTRY)
        job = finished(pool.ask("count", {}, SCOPE, "v1"))
        pool.close()
        assert job.state == "failed"
        assert job.sentence.startswith("The database cannot be reached.")

    def test_closing_tells_who_waits(self, address: str, tmp_path: Path) -> None:
        pool = WorkerPool(address, REGISTRY)
        jobs = [pool.ask("until_released", {"folder": str(tmp_path), "n": n}, SCOPE, "v1") for n in range(3)]
        until(lambda: len(starts(tmp_path)) == 2)
        pool.close()
        assert [finished(job).sentence for job in jobs] == [ENDED] * 3
        assert not [pid for pid in starts(tmp_path) if psutil.pid_exists(pid)]
        assert pool.ask("echo", {}, SCOPE, "v1").state == "failed"


PARENT = """
import sys, time
from datetime import date
from jobs.worker_pool import WorkerPool
from queries.scope import Reach, Scope
pool = WorkerPool(sys.stdin.readline().strip(), "tests.jobs.worker_tasks")
scope = Scope.of_days(Reach(()), date(2026, 3, 1), date(2026, 3, 2))
for n in range(2):
    pool.ask("until_released", {"folder": sys.argv[1], "n": n}, scope, "v1")
time.sleep(600)
"""


class TestTheApplicationsEnd:
    def test_a_killed_application_leaves_no_worker(self, address: str, tmp_path: Path) -> None:
        command = [sys.executable, "-c", PARENT, str(tmp_path)]
        with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE) as parent:
            assert parent.stdin is not None
            parent.stdin.write(address.encode() + b"\n")
            parent.stdin.flush()
            pids = until(lambda: len(starts(tmp_path)) == 2 and starts(tmp_path))
            parent.kill()
        until(lambda: not any(psutil.pid_exists(pid) for pid in pids), limit=5.0)

    def test_no_secret_stands_on_the_command_line(self, pool: WorkerPool, address: str) -> None:
        pid = finished(pool.ask("echo", {"line": 1}, SCOPE, "v1")).value()["pid"]
        line = " ".join(psutil.Process(pid).cmdline())
        assert address not in line
        assert line.endswith(f"-m jobs.worker {REGISTRY}")


def test_many_askers_at_once_start_one_run(pool: WorkerPool, tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    jobs: list[Job] = []
    barrier = threading.Barrier(16)

    def ask() -> None:
        barrier.wait()
        jobs.append(pool.ask("until_released", {"folder": str(tmp_path)}, SCOPE, "v1", who=str(len(jobs))))

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(job) for job in jobs}) == 1
    finished(jobs[0])
    assert len(starts(tmp_path)) == 1
