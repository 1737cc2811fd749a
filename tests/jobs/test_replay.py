"""``python -m jobs replay``: the same figures as the library, and one sentence where there are none."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from analysis.replay import replay
from analysis.replay_settings import what_if
from queries.engine import Store, make_engine
from queries.scope import Reach, Scope
from ranking.pipeline_text import from_text
from tests.jobs.command import jobs
from tests.jobs.conftest import NOW

if TYPE_CHECKING:
    from tests.conftest import Cluster

PIPELINE = "Relevance~~Corroboration~scale~0.2~~Feedback~~Mmr~k~20~lam~0.9~~TokenBudget~tokens~400"


@pytest.fixture
def readable(cluster: Cluster, filled: str) -> str:
    return cluster.plain_url("dash_read", filled.rsplit("/", 1)[1].split("?", maxsplit=1)[0])


def test_the_figures_are_those_of_the_page(readable: str) -> None:
    first, last = (NOW - timedelta(days=60)).date(), NOW.date()
    window = ("--since", first.isoformat(), "--until", last.isoformat())
    run = jobs("replay", "--org", "org_alder", "--pipeline", PIPELINE, *window, "--json", DATABASE_URL=readable)
    assert (run.returncode, run.stderr) == (0, "")
    store = Store(make_engine(readable, name="test"))
    expected = replay(
        store, Scope.of_days(Reach(("org_alder",)), first, last, "org_alder"), what_if(from_text(PIPELINE))
    )
    store.close()
    assert json.loads(run.stdout) == json.loads(json.dumps(expected.to_json()))
    assert expected.changed > 0


def test_in_words(readable: str) -> None:
    window = ("--since", "2026-01-01", "--until", "2026-03-29")
    run = jobs("replay", "--org", "org_lumenfield", *window, DATABASE_URL=readable)
    assert run.returncode == 0
    first, *rest = run.stdout.splitlines()
    assert first.endswith("logged retrievals replayed")
    assert rest[0].endswith(": the log lost or repeats a rank")
    assert "order changed: 0" in rest
    assert "mean RBO: 1" in rest


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--org", "org_nobody"), "no such organization: org_nobody"),
        (("--org", "org_alder", "--pipeline", "Relevance~~Composite"), "replay: expected some of Relevance, Head"),
        (("--org", "org_alder", "--bits", "99"), "threshold: expected a whole number of bits from 0 to 64, found 99"),
        (
            ("--org", "org_alder", "--since", "2026-03-02", "--until", "2026-03-01"),
            "expected a first day that is not after the last, found 2026-03-02 and 2026-03-01",
        ),
    ],
)
def test_what_cannot_be_said_is_one_sentence(readable: str, arguments: tuple[str, ...], sentence: str) -> None:
    run = jobs("replay", *arguments, DATABASE_URL=readable)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith(sentence)
    assert run.stderr.count("\n") == 1
