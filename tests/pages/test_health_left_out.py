"""From Health to the retrievals behind Log coverage and Permutation integrity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controls import glossary
from tests import sample
from tests.impact_log import believable, damaged, plant, seeded
from tests.pages.application import application

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

EACH = 60  # retrievals of either window: enough that a half of them is no chance
INCOMPLETE, FAULTY = "Which are logged incompletely", "Which are faulty in any way"


@pytest.fixture
def address(cluster: Cluster, store_database: str, owner: Owner, request: pytest.FixtureRequest) -> str:
    """Two weeks of a log, of which half of the second has one fault."""
    sample.add_organization(owner, "org_a", "Acme")
    draw = seeded(8)
    made = [believable(draw, f"{days}/{n}", 8, block=3, days_ago=days) for days in (2, 9) for n in range(EACH)]
    for each in made[: EACH // 2]:
        if request.param == "hole":  # the first, without which no later rank can make it look whole
            each.rows.remove(next(row for row in each.rows if row.before == 0))
        else:
            damaged(draw, each, request.param)
    plant(owner, made)
    return cluster.plain_url("dash_read", store_database)


def advised(test: AppTest, about: str) -> str:
    (advice,) = (line.value for line in test.markdown if line.value.startswith(f"- **{about}"))
    return advice


def follow(test: AppTest, label: str, offered: list[str]) -> list[str]:
    """The reasons of what a way of Health leads to, of the ways that are offered."""
    ways = {button.label: button for button in test.button if button.label in (INCOMPLETE, FAULTY)}
    assert list(ways) == offered
    ways[label].click().run()
    assert not test.exception
    assert [title.value for title in test.title] == ["Feedback Impact"]
    assert [test.query_params[name] for name in ("org", "window", "part")] == ["org_a", "7d", "left"]
    (found,) = (each.value for each in test.dataframe if "shown_by" in each.value)
    return list(found["reason"])


@pytest.mark.parametrize("address", ["hole"], indirect=True)
def test_lost_rows_lead_to_the_incomplete(address: str) -> None:
    with application(address, org="org_a", window="7d") as test:
        test.switch_page("health.py").run()
        assert "Left out, on Feedback Impact, lists these retrievals" in advised(test, "Log coverage 50 %")
        told = next(metric.help for metric in test.metric if metric.label == "Log coverage")
        assert glossary.FOUR_OF_THE_LOG in told
        assert glossary.FOUR_OF_THE_LOG in [caption.value for caption in test.caption]
        assert follow(test, INCOMPLETE, [INCOMPLETE]) == ["logged incompletely"] * (EACH // 2)
        assert test.query_params["left"] == "incomplete"


@pytest.mark.parametrize("address", ["twice"], indirect=True)
def test_repeated_observations_lead_to_the_faulty(address: str) -> None:
    with application(address, org="org_a", window="7d") as test:
        test.switch_page("health.py").run()
        assert "Left out, on Feedback Impact, lists these retrievals" in advised(test, "Permutation integrity 50 %")
        assert follow(test, FAULTY, [FAULTY]) == ["with an observation logged twice"] * (EACH // 2)
        assert "left" not in test.query_params
