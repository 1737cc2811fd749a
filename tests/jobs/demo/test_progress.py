"""The first start takes a while: what is being done is said, step by step, to whoever watches."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from jobs.demo.load import fill
from jobs.demo.sizes import SMALL
from queries.embedded import start
from queries.owner import owning
from tests.jobs.command import ROOT, SETTINGS
from tests.jobs.conftest import NOW

if TYPE_CHECKING:
    from pathlib import Path

CLEARED = "\r\x1b[K"
STEPS = """
from jobs.demo import Progress
with Progress() as say:
    say("starting")
    say("migrating the store")
print("ready")
"""


def on_a_terminal(*arguments: str, **settings: str) -> tuple[int, str]:
    """A command whose output is a terminal: how it ended, and every character it wrote there."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, env=inherited | settings, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    written = b""
    try:
        while part := os.read(ours, 4096):
            written += part
    except OSError:
        pass  # what Linux answers once nobody holds the other end
    finally:
        os.close(ours)
    return done.wait(60), written.decode()


def test_a_terminal_shows_one_line_that_is_rewritten_and_gone_in_the_end() -> None:
    code, written = on_a_terminal("-c", STEPS)
    assert code == 0
    assert written == f"{CLEARED}starting …{CLEARED}migrating the store …{CLEARED}ready\r\n"


def test_a_file_gets_the_answer_alone() -> None:
    done = subprocess.run([sys.executable, "-c", STEPS], cwd=ROOT, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("ready\n", "")


def test_every_organization_is_told_with_its_numbers_in_order(owned: str) -> None:
    said: list[str] = []
    with owning(owned) as engine, engine.begin() as connection:
        written = fill(connection, NOW, SMALL, say=said.append)
    assert written is not None
    of_each = [said[place : place + 3] for place in range(0, 18, 3)]
    embedded = replayed = 0
    for number, (imagining, embedding, replaying) in enumerate(of_each, 1):
        name = f"organization {number} of 6"
        assert imagining == f"imagining {name}"
        first = re.fullmatch(rf"embedding ([\d,]+) observations of {name}", embedding)
        second = re.fullmatch(rf"replaying ([\d,]+) sessions of {name}", replaying)
        assert first is not None
        assert second is not None
        embedded += int(first[1].replace(",", ""))
        replayed += int(second[1].replace(",", ""))
    assert said[18:] == ["building indexes"]
    assert (embedded, replayed) == (written["observations"], written["sessions"])


@pytest.mark.long
def test_the_first_start_on_a_terminal_says_each_step_and_then_what_is_there(tmp_path: Path) -> None:
    code, written = on_a_terminal("-m", "jobs", "demo", "--size", "small", RANKSCOPE_DATA=str(tmp_path / "store"))
    with start(tmp_path / "store"):  # whoever leaves last ends the server
        pass
    assert code == 0
    steps = [step.removesuffix(" …") for step in written.split(CLEARED)]
    assert steps[:3] == ["", "starting the embedded PostgreSQL", "migrating the store"]
    assert [step for step in steps if step.startswith("imagining")] == [
        f"imagining organization {number} of 6" for number in range(1, 7)
    ]
    assert steps[-2] == "building indexes"
    assert re.fullmatch(r"the demo store is ready: 6 organizations, \d{3} observations, [\d,]+ log rows\r\n", steps[-1])
