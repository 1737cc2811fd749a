"""LOAD-9: a report of any length is written in memory that does not grow with it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.jobs.command import ROOT

LIMIT = 64  # MiB
# The peak before is taken after one small report in the same format: libraries and fonts are loaded by then.
CODE = """
import resource, sys
from reports.formats import WRITERS
from dataclasses import replace
from tests.reports.alerts import about, alert

form, count, length = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

class Counting:
    def __init__(self):
        self.size = 0
    def write(self, content):
        self.size += len(content)
        return len(content)
    def flush(self):
        pass

def alerts(count):
    one, text = alert(), "x" * length
    return (
        replace(one, fingerprint=f"{number:032x}", older=replace(one.older, content=f"always {number} {text}"))
        for number in range(count)
    )

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

WRITERS[form](alerts(1_000), about(), Counting())
before, out = peak(), Counting()
WRITERS[form](alerts(count), about(), out)
print(out.size, peak() - before)
"""


def grown(form: str, count: int, length: int) -> tuple[int, float]:
    """Bytes written, and by how many MiB the peak grew meanwhile; each alert has a text of its own, so long."""
    command = [sys.executable, "-c", CODE, form, str(count), str(length)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    size, growth = run.stdout.split()
    return int(size), float(growth)


def test_what_is_written_is_not_held() -> None:
    size, growth = grown("csv", 20_000, 5_000)
    assert size > 100_000_000
    assert growth <= LIMIT


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("form", ["csv", "json", "jsonld", "md", "html", "bundle"])
def test_a_hundred_thousand_alerts_take_no_more_memory(form: str) -> None:
    _, growth = grown(form, 100_000, 1_000)
    assert growth <= LIMIT


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_document_of_five_thousand_alerts_takes_no_more_memory() -> None:
    size, growth = grown("pdf", 5_000, 100)
    assert size > 5_000_000
    assert growth <= LIMIT


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_million_rows_take_no_more_memory() -> None:
    size, growth = grown("csv", 1_000_000, 1)
    assert size > 750_000_000
    assert growth <= LIMIT
