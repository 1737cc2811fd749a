"""A store whose sessions may end with a word of the platform's own: each page with outcomes counts them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.dossier import Planted, plant
from tests.pages.application import application

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
