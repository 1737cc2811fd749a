from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ranking import PRESETS
from settings import EMBEDDERS
from tests.jobs.command import jobs
from tests.retrieval.planted import TEXTS, add_session, plant

if TYPE_CHECKING:
    import psycopg

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "retrieval.md").read_text(encoding="utf-8")
EXAMPLE = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)[0]
URL = "postgresql://memory_write@db.example/platform"


class TestTheExample:
    def test_it_has_ten_lines(self) -> None:
        assert len([line for line in EXAMPLE.splitlines() if line.strip()]) <= 10

    @pytest.mark.parametrize(("outcome", "weight"), [("accepted", 1.0), ("rejected", 0.85)])
    def test_it_runs_as_it_stands(
        self, cluster: Cluster, store_database: str, owner: Owner, outcome: str, weight: float
    ) -> None:
        """Only the address is another: what it promises is in the store afterwards."""
        plant(owner, "org_123")
        add_session(owner, "org_123", "ses_abc", "bug_fix")
        prompts: list[str] = []

        def run_agent(prompt: str) -> str:
            prompts.append(prompt)
            return outcome

        assert URL in EXAMPLE
        code = EXAMPLE.replace(URL, cluster.url("memory_write", store_database))
        names: dict[str, Any] = {"run_agent": run_agent}
        exec(compile(code, "docs/retrieval.md", "exec"), names)  # noqa: S102 - our own documentation
        assert names["found"].degraded == ()
        assert f"- {TEXTS[0]}" in prompts[0].splitlines()
        counts = owner.execute(
            """select (select count(*) from retrieval_ab_logs where session_id = 'ses_abc'),
                      (select count(*) from context_injection_logs where session_id = 'ses_abc'),
                      (select outcome from sessions where id = 'ses_abc')"""
        ).fetchone()
        assert counts == (5, 1, outcome)
        weights = owner.execute("select distinct weight from observations").fetchall()
        assert weights == [(pytest.approx(weight),)]


def test_every_embedder_and_flag_is_described() -> None:
    for name in (*EMBEDDERS, "feedback_weighting_disabled", "corroboration_boost_enabled"):
        assert f"`{name}" in TEXT


def test_the_picture_is_there_and_is_a_picture() -> None:
    (picture,) = re.findall(r"!\[.*?\]\((.*?)\)", TEXT)
    root = ET.parse(DOCS / picture).getroot()  # noqa: S314 - our own file
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    words = " ".join(root.itertext())
    assert [
        stage for stage in ("embed", "recall", "evidence", "rank", "pack", "log", "learn") if stage not in words
    ] == []


def test_the_commands_shown_are_ones_that_the_job_takes(cluster: Cluster, store_database: str, owner: Owner) -> None:
    plant(owner, "org_123")
    commands = re.findall(r"^python -m jobs (rank .*)$", TEXT, flags=re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        arguments = [part.strip('"') for part in re.findall(r'"[^"]*"|\S+', command)]
        done = jobs(*arguments, DATABASE_URL=cluster.url("dash_read", store_database), RANKSCOPE_SCORER="lexical")
        assert (done.returncode, done.stderr) == (0, "")
    assert set(re.findall(r"--preset (\w+)", TEXT)) <= set(PRESETS)
