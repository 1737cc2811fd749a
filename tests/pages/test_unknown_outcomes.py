"""A store whose sessions may end with a word of the platform's own: each page with outcomes counts them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.analysis.replay.planted_log import plant_explored
from tests.dossier import Planted, plant
from tests.pages.application import application
from tests.pages.test_what_if import opened

if TYPE_CHECKING:
    import psycopg

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

GIVEN = """select count(distinct s.id) from sessions s
             join retrieval_ab_logs l on l.org_id = s.org_id and l.session_id = s.id
            where l.observation_id = %s and l.injected"""


@pytest.fixture
def planted(owner: Owner) -> Planted:
    """Every session ended with such a word."""
    found = plant(owner, "org_a")
    owner.execute("alter table sessions drop constraint sessions_outcome_check")
    owner.execute("update sessions set outcome = 'abandoned'")
    return found


@pytest.mark.parametrize("page", ["overview.py", "health.py", "observation.py"])
def test_the_strip_counts_them_and_no_figure_is_zero(
    cluster: Cluster, store_database: str, planted: Planted, owner: Owner, page: str
) -> None:
    counted = GIVEN if page == "observation.py" else "select count(*) from sessions where %s is not null"
    (sessions,) = owner.execute(counted, (planted.id,)).fetchall()[0]
    address = cluster.plain_url("dash_read", store_database)
    with application(address, org="org_a", window="90d", observation=str(planted.id)) as test:
        test.switch_page(page).run()
        assert not test.exception
        strip = next(line.value for line in test.markdown if "as of" in line.value)
        figures = {metric.label: metric.value for metric in test.metric}
    assert sessions > 1
    assert f"{sessions} sessions with an unknown outcome, in no share" in strip
    assert [value for label, value in figures.items() if "ccepted" in label] == ["—"]


def test_the_mix_of_an_observation_s_sessions_names_them(
    cluster: Cluster, store_database: str, planted: Planted, owner: Owner
) -> None:
    (sessions,) = owner.execute(GIVEN, (planted.id,)).fetchall()[0]
    with application(cluster.plain_url("dash_read", store_database), observation=str(planted.id)) as test:
        test.switch_page("observation.py").run()
        (mix,) = [line.value for line in test.caption if "Sessions it was injected into" in line.value]
    assert mix.endswith(f"0 accepted · 0 rework · 0 rejected · 3 without outcome · {sessions} with an unknown one.")


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        (("abandoned", "session-rare-%"), ("20 sessions", "Weighting was on in all 140 sessions")),
        (("abandoned", "session-rare-0"), ("1 session", "Weighting was on in all 159 sessions")),
        ((None, "session-rare-%"), (None, "Weighting was on in all 140 sessions")),
        (("abandoned", "%"), ("160 sessions", "No session with a retrieval has one of the three outcomes yet.")),
    ],
)
def test_what_if_leaves_them_out_and_says_how_many(
    cluster: Cluster, store_database: str, owner: Owner, ended: tuple[str | None, str], told: tuple[str | None, str]
) -> None:
    """Around a switch, over 90 days, and in what is reweighted, over the window: each says it of its own sessions."""
    plant_explored(owner, "org_a")
    owner.execute("alter table sessions drop constraint sessions_outcome_check")
    owner.execute("update sessions set outcome = %s where id like %s", ended)
    with application(cluster.plain_url("dash_read", store_database), org="org_a", w="off", show="outcomes") as test:
        opened(test)
        captions = [caption.value for caption in test.caption]
        estimated = any(metric.label == "Effective sample" for metric in test.metric)
    counted, in_all = told
    line = f"{counted} with an unknown outcome, in no share."
    assert any(caption.startswith(in_all) for caption in captions)
    assert estimated is (counted == "1 session")  # the others leave too few
    assert captions.count(line) == (counted is not None)
    expected = (counted is not None) + estimated
    assert sum(line in caption for caption in captions) == expected
    assert sum("unknown" in caption for caption in captions) == expected
