"""What runs beside the application ends with it, and comes back when it ends by itself."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import psutil
import pytest

from jobs import companion
from jobs.companion import Companion
from tests.jobs.command import ROOT
from tests.jobs.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# processes are killed and waited for: minutes, not seconds
pytestmark = pytest.mark.long

NO_JOB = ("no-such-job",)
OWNER = """
import sys, time
from pathlib import Path
from jobs.companion import Companion
beside = Companion("test", sys.argv[2:], Path(sys.argv[1]))
beside.attend()
print(beside.process.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def failing(tmp_path: Path) -> Iterator[Companion]:
    made = Companion("failing", NO_JOB, tmp_path / "log")
    yield made
    made.end()


def ended(beside: Companion) -> bool:
    return beside.process is not None and beside.process.poll() is not None


class TestRestart:
    def test_an_end_is_told_and_followed_by_a_start_that_comes_later_each_time(
        self, failing: Companion, caplog: pytest.LogCaptureFixture
    ) -> None:
        pauses = []
        for failures in range(1, 4):
            failing.attend()
            wait_until(lambda: ended(failing))
            before = time.monotonic()
            with caplog.at_level(logging.ERROR):
                failing.attend()
            pauses.append(failing.next_start - before)
            assert failing.process is None
            assert failing.state == f"ended {failures} times, to be started again"
            failing.attend()
            assert failing.process is None, "it was started before its time"
            failing.next_start = 0.0
        assert [round(pause) for pause in pauses] == [2, 4, 8]
        assert "failing ended with code 2 after " in caplog.text
        assert f"; starting it again in 2 s; what it said: {failing.output}" in caplog.text
        assert "no-such-job" in failing.output.read_text()

    def test_one_that_had_been_well_is_back_soon(self, failing: Companion) -> None:
        failing.failures = 9
        failing.attend()
        wait_until(lambda: ended(failing))
        failing.started -= companion.STEADY
        failing.attend()
        assert failing.failures == 1

    def test_it_never_waits_longer_than_five_minutes(self, failing: Companion) -> None:
        failing.failures = 40
        failing.attend()
        wait_until(lambda: ended(failing))
        failing.attend()
        assert failing.next_start - time.monotonic() <= companion.LONGEST

    def test_a_log_that_grew_too_long_begins_anew(self, failing: Companion) -> None:
        failing.output.write_bytes(b"x" * (companion.LOG_LIMIT + 1))
        failing.attend()
        assert failing.output.stat().st_size <= companion.LOG_LIMIT


class TestEnd:
    def test_told_to_end_it_ends_and_is_not_started_again(self, failing: Companion) -> None:
        failing.attend()
        process = failing.process
        assert process is not None
        failing.end()
        assert process.returncode is not None
        failing.next_start = 0.0
        failing.attend()
        assert failing.process is None

    def test_kill_9_of_its_owner_ends_it(self, tmp_path: Path) -> None:
        arguments = ("aggregate", "--every", "60", "--beside", str(tmp_path))
        command = [sys.executable, "-c", OWNER, str(tmp_path / "log"), *arguments]
        owner = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            assert owner.stdout is not None
            beside = psutil.Process(int(owner.stdout.readline()))
            try:
                wait_until(lambda: (tmp_path / "log").read_text().startswith("no pass: "))
                owner.kill()
                wait_until(lambda: not beside.is_running() or beside.status() == psutil.STATUS_ZOMBIE)
            finally:
                with suppress(psutil.NoSuchProcess):
                    beside.kill()
        finally:
            owner.kill()
            owner.communicate()
