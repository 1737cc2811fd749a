"""A large demo is made by two processes: what comes of it is what one would have made, or nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import psutil
import pytest

from jobs.demo.load import SEED, made, told
from jobs.demo.makers import MakerError, making
from jobs.demo.rows import COLUMNS
from jobs.demo.sizes import SMALL
from tests.jobs.conftest import NOW
from tests.jobs.test_worker import until as eventually

# Begins to read, and is killed before it could end anything.
KILLED = """
import os, signal
from jobs.demo.load import SEED, told
from jobs.demo.makers import making
from jobs.demo.sizes import SMALL
from tests.jobs.conftest import NOW

with making(NOW, SMALL, SEED, len(told(SMALL)), lambda _: None) as organizations:
    next(organizations)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def makers() -> list[psutil.Process]:
    mine = psutil.Process().children(recursive=True)
    return [process for process in mine if "jobs.demo.maker" in process.cmdline()]


def both() -> list[psutil.Process]:
    """The two at work; a process that was just started has no arguments for a moment."""
    eventually(lambda: len(makers()) == 2)
    return makers()


def test_two_processes_make_the_same_bytes_in_the_same_order_as_one() -> None:
    said: list[str] = []
    expected: list[str] = []
    with making(NOW, SMALL, SEED, len(told(SMALL)), said.append) as organizations:
        assert both()
        for number, rows in enumerate(organizations):
            here = made(number, NOW, SMALL, SEED, expected.append)
            for table in COLUMNS:
                assert b"".join(rows(table)) == b"".join(here.encoded(table))
    assert number == 5
    assert said == expected
    assert makers() == []


def test_a_process_that_is_killed_ends_the_load_with_a_reason() -> None:
    with making(NOW, SMALL, SEED, len(told(SMALL)), lambda _: None) as organizations:
        for maker in both():
            os.kill(maker.pid, signal.SIGKILL)
        # what they had written by then is still read, and is not all of it
        with pytest.raises(MakerError, match=r"^expected the next organization, found its process ended \(-9\)$"):
            _ = [b"".join(rows(table)) for rows in organizations for table in COLUMNS]
    assert makers() == []


def test_whoever_stops_reading_leaves_no_process() -> None:
    with making(NOW, SMALL, SEED, len(told(SMALL)), lambda _: None) as organizations:
        next(organizations)
        assert both()
    assert makers() == []


def test_whoever_is_killed_leaves_no_process_and_no_word() -> None:
    """What they would say is heard until the last of them has ended."""
    reader = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, timeout=60, check=False)
    assert (reader.returncode, reader.stdout, reader.stderr) == (-signal.SIGKILL, b"", b"")
