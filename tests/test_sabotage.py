"""Take one guard away at a time: each has to turn at least one test red, or the tests guard nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.app_server import ROOT
from tests.guards_of_the_application import OF_THE_APPLICATION
from tests.guards_of_the_store import OF_THE_STORE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sabotage import Sabotage

SABOTAGES = (*OF_THE_STORE, *OF_THE_APPLICATION)


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda s: s.guard)
def test_a_guard_taken_away_turns_a_test_red(sabotage: Sabotage, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".venv", ".git", ".rankscope", "*_cache", "__pycache__"))
    target = copy / sabotage.file
    source = target.read_text()
    assert source.count(sabotage.found) == 1, f"{sabotage.file} no longer has this guard as it was"
    target.write_text(source.replace(sabotage.found, sabotage.instead))
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            "-m",
            "long or not long",
            *sabotage.tests,
        ],
        cwd=copy,
        env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST")},
        check=False,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1, f"no test noticed:\n{ran.stdout[-2000:]}{ran.stderr[-500:]}"
    assert " failed" in ran.stdout


def test_every_guard_still_stands_where_it_is_taken_away() -> None:
    """Quick, where taking each away takes long: a guard that has moved would be noticed late."""
    moved = [each.guard for each in SABOTAGES if (ROOT / each.file).read_text().count(each.found) != 1]
    assert moved == []


def test_every_test_that_should_notice_is_there() -> None:
    """One that has moved would be noticed as late."""
    named = [test.split("::") for each in SABOTAGES for test in each.tests]
    gone = [file for file, *inside in named if not all(name in (ROOT / file).read_text() for name in inside)]
    assert gone == []
