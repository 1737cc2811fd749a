"""``python -m jobs replay``: the same figures as the library, and one sentence where there are none."""

from __future__ import annotations

import json
import shlex
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.replay.command import command
from analysis.replay.replaying import replay
from analysis.replay.settings import WhatIf, what_if
from jobs.__main__ import parser
from jobs.replay import chosen, scope_of
from queries.engine import Store, make_engine
from queries.scope import Reach, Scope, is_storable
from ranking.clusters import CountBy
from ranking.feedback import Normalise
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


class TestKnobs:
    """What-if's own knobs beside a pipeline: each as logged until it is named."""

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ((), WhatIf()),
            (("--weighting", "off"), WhatIf(weighting=False)),
            (("--weighting=on", "--normalise=minmax"), WhatIf(weighting=True, normalise=Normalise.MINMAX)),
            (("--boost=0", "--lambda=0.5", "--duplicate=0.9"), WhatIf(boost=0.0, lam=0.5, duplicate=0.9)),
            (("--boost=0.2", "--bits=5", "--count-by=agents"), WhatIf(boost=0.2, bits=5, count_by=CountBy.AGENTS)),
            (("--budget", "300"), WhatIf(budget=300)),
            # a stage that a pipeline does not name is off, and a knob goes before it
            (("--pipeline", "Relevance"), WhatIf(weighting=False, boost=0.0)),
            (("--pipeline", "Relevance", "--boost", "logged"), WhatIf(weighting=False)),
            (("--pipeline", "Relevance", "--weighting", "logged"), WhatIf(boost=0.0)),
            (("--preset", "INTENDED", "--boost=logged", "--budget=90"), WhatIf(weighting=True, head=20, budget=90)),
            (
                (
                    "--pipeline",
                    "Relevance~~Mmr~k~20~lam~0.9~~TokenBudget~tokens~400",
                    "--lambda=off",
                    "--budget=logged",
                ),
                WhatIf(weighting=False, boost=0.0, chosen=20),
            ),
        ],
    )
    def test_a_knob_is_as_logged_until_it_is_turned(self, options: tuple[str, ...], expected: WhatIf) -> None:
        assert chosen(parser().parse_args(["replay", "--org", "org_alder", *options])) == expected

    @given(
        st.builds(
            WhatIf,
            weighting=st.none() | st.booleans(),
            normalise=st.sampled_from(Normalise),
            boost=st.none() | st.floats(0, 10),
            bits=st.integers(0, 64),
            count_by=st.sampled_from(CountBy),
            lam=st.none() | st.floats(0, 1),
            duplicate=st.floats(0, 1, exclude_min=True),
            budget=st.none() | st.integers(0, 10_000),
        ),
        st.text(min_size=1).filter(is_storable),
        st.none() | st.text(min_size=1).filter(is_storable),
    )
    def test_a_line_to_copy_means_the_settings_it_was_made_of(
        self, settings: WhatIf, org: str, project: str | None
    ) -> None:
        scope = Scope.of_days(Reach((org,)), date(2026, 1, 5), date(2026, 2, 3), org, project)
        line = shlex.split(command(settings, scope))
        assert line[:4] == ["python", "-m", "jobs", "replay"]
        args = parser().parse_args(line[3:])
        assert chosen(args) == settings
        assert scope_of(args) == scope


def test_in_words(readable: str) -> None:
    window = ("--since", "2026-01-01", "--until", "2026-03-29")
    run = jobs("replay", "--org", "org_lumenfield", *window, DATABASE_URL=readable)
    assert run.returncode == 0
    first, *rest = run.stdout.splitlines()
    assert first.endswith("logged retrievals replayed")
    assert rest[0].endswith(": logged incompletely (a rank is missing or repeated)")
    assert "order changed: 0" in rest
    assert "mean RBO: 1" in rest


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--org", "org_nobody"), "no such organization: org_nobody"),
        (("--org", "org_alder", "--project", "typo\x1b"), "no such project in org_alder: typo\\x1b"),
        (("--org", "org_alder", "--pipeline", "Relevance~~Composite"), "replay: expected some of Relevance, Head"),
        (("--org", "org_alder", "--bits", "99"), "threshold: expected a whole number of bits from 0 to 64, found 99"),
        (
            ("--org", "org_alder", "--since", "2026-03-02", "--until", "2026-03-01"),
            "expected a first day that is not after the last, found 2026-03-02 and 2026-03-01",
        ),
        (("--org", "org_alder", "--until", "9999-12-31"), "expected a last day from 0001-01-31 to 9999-12-01"),
        (("--org", "org_alder", "--until", "0001-01-05"), "expected a last day from 0001-01-31 to 9999-12-01"),
    ],
)
def test_what_cannot_be_said_is_one_sentence(readable: str, arguments: tuple[str, ...], sentence: str) -> None:
    run = jobs("replay", *arguments, DATABASE_URL=readable)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith(sentence)
    assert run.stderr.count("\n") == 1
