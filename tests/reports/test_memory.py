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

form, count = sys.argv[1], int(sys.argv[2])

class Counting:
    def __init__(self):
        self.size = 0
    def write(self, content):
        self.size += len(content)
        return len(content)
    def flush(self):
        pass

def alerts(count):
    one = alert()
    return (replace(one, fingerprint=f"{number:032x}") for number in range(count))

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

WRITERS[form](alerts(1_000), about(), Counting())
before, out = peak(), Counting()
WRITERS[form](alerts(count), about(), out)
print(out.size, peak() - before)
"""


def grown(form: str, count: int) -> tuple[int, float]:
    """Bytes written, and by how many MiB the peak grew meanwhile."""
    command = [sys.executable, "-c", CODE, form, str(count)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    size, growth = run.stdout.split()
    return int(size), float(growth)


@pytest.mark.parametrize("form", ["csv"])
def test_a_hundred_thousand_alerts_take_no_more_memory(form: str) -> None:
    size, growth = grown(form, 100_000)
    assert size > 75_000_000
    assert growth <= LIMIT


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("form", ["json", "jsonld", "md", "html", "pdf", "bundle"])
def test_no_format_holds_its_alerts(form: str) -> None:
    _, growth = grown(form, 100_000)
    assert growth <= LIMIT


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_million_rows_take_no_more_memory() -> None:
    size, growth = grown("csv", 1_000_000)
    assert size > 750_000_000
    assert growth <= LIMIT
