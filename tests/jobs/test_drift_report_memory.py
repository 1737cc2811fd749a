"""LOAD-9 from the command to the file: memory does not grow with the alerts, from search and reading to writing."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid5

import psycopg
import pytest

from tests import sample
from tests.jobs.command import ROOT, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Cluster

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

LIMIT = 64  # MiB that some 20 000 alerts may take beyond 16
TYPESETTER = 320  # MiB, of a process of its own that ends with the document
GROUPS, ALIKE = 1_250, 8  # 10 000 observations: each group holds its value against that of its other half
WIDE, FEW = GROUPS * (ALIKE // 2) ** 2, (ALIKE // 2) ** 2
# What the process and its children held at most, once the command is over.
CODE = """
import resource, sys
from jobs.__main__ import run
code = run(sys.argv[1:])
print(*(resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
sys.exit(code)
"""


def fill(owner: psycopg.Connection[Any], org: str, disputed: int) -> None:
    """As many observations in both organizations; in so many of their groups the halves say different ports."""
    sample.add_organization(owner, org, org)
    with owner.cursor() as cursor, cursor.copy(
        "copy observations (org_id, id, project_id, agent_id, content, content_hash, created_at) from stdin"
    ) as copy:  # fmt: skip
        for number in range(GROUPS * ALIKE):
            group, place = divmod(number, ALIKE)
            port = 9090 if place % 2 and group < disputed else 8080
            content = f"The q{group}x dispatch API of team{group} listens on port {port}. Note {place} on it."
            id_ = str(uuid5(sample.NAMESPACE, f"{org}/{number}"))
            at = sample.TODAY - timedelta(days=1 + place)
            copy.write_row((org, id_, "api", f"agent-{place}", content, str(number), at))


@pytest.fixture(scope="module")
def address(cluster: Cluster, template: str) -> Iterator[str]:
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        fill(owner, "many", GROUPS)
        fill(owner, "few", 1)
    yield cluster.plain_url("dash_read", name)
    cluster.drop(name)


def written(address: str, org: str, form: str, out: Path) -> tuple[int, int, int]:
    """Alerts in the file, and the MiB that the command and its children held at most."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    command = ["drift-report", "--org", org, "--format", form, "--out", str(out)]
    run = subprocess.run(
        [sys.executable, "-c", CODE, *command],
        cwd=ROOT,
        env=inherited | {"DATABASE_URL": address},
        capture_output=True,
        text=True,
        check=True,
    )
    told = run.stderr.splitlines()[-1]
    own, children = run.stdout.split()
    return int(told.split()[0].replace(",", "")), int(own), int(children)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_twenty_thousand_alerts_take_little_more_memory_than_sixteen(address: str, tmp_path: Path, form: str) -> None:
    few, before, _ = written(address, "few", form, tmp_path / "few")
    many, after, _ = written(address, "many", form, tmp_path / "many")
    assert (few, many) == (FEW, WIDE)
    assert (tmp_path / "many").stat().st_size > 1_000 * (tmp_path / "few").stat().st_size / 2
    assert after - before <= LIMIT, f"{before} and {after} MiB"


@pytest.mark.timeout(1_800)  # setting 20 000 alerts takes a minute of a processor, and a busy machine has few to spare
def test_a_document_of_them_takes_no_more_and_its_typesetter_what_is_stated(address: str, tmp_path: Path) -> None:
    """The document holds them all, set in parts; what it costs to set one is bounded, and is not the command's."""
    _, before, _ = written(address, "few", "pdf", tmp_path / "few")
    many, after, typesetter = written(address, "many", "pdf", tmp_path / "many")
    assert many == WIDE
    assert after - before <= LIMIT, f"{before} and {after} MiB"
    assert typesetter <= TYPESETTER
