"""Why what misleads still reaches agents, above the list of it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests import sample
from tests.health_store import NOW
from tests.pages.health_page import health

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]

OFF = '{"feedback_weighting_disabled": true}'


def mislead(owner: Owner, org: str, weights: list[float], features: str | None = None) -> None:
    """An organization with a session that so many memories misled, by their weights."""
    sample.add_organization(owner, org, org.upper(), features=features or "{}")
    ids = sample.add_observations(owner, org, len(weights), days_ago=40)
    for id_, weight in zip(ids, weights, strict=True):
        owner.execute("update observations set weight = %s where id = %s", (weight, id_))
    sample.add_session(owner, org, "one", "rework")
    owner.execute(
        """insert into session_diagnostics (org_id, session_id, outcome, helpful_observation_ids,
             misleading_observation_ids, created_at) values (%s, 'one', 'rework', '{}', %s, %s)""",
        (org, ids, NOW - timedelta(days=1)),
    )


def said(address: str, **where: str) -> str:
    with health(address, part="top", **where) as test:
        assert not test.exception
        return " ".join(each.value for each in (*test.caption, *test.markdown))


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (OFF, "2 of these 4 weigh under 0.3; weighting is off here, so they rank as if they weighed 1."),
        (None, "2 of these 4 weigh under 0.3: feedback already demotes them."),
        # what cannot be read is served as if nothing were set
        ("[1]", "2 of these 4 weigh under 0.3: feedback already demotes them."),
    ],
)
def test_of_one_organization(address: str, owner: Owner, features: str | None, expected: str) -> None:
    """A weight of 0.3 is not under it, and one that is no number is not counted."""
    mislead(owner, "org_a", [0.1, 0.29, 0.3, float("nan")], features)
    assert expected in said(address, org="org_a", kind="misleading")


def test_of_several_each_by_its_own_flag(address: str, owner: Owner) -> None:
    mislead(owner, "org_a", [0.1, 0.2, 0.9], OFF)
    mislead(owner, "org_b", [0.1])
    told = said(address, kind="misleading")
    assert "3 of these 4 weigh under 0.3. Where weighting is off, 2 of them rank as if they weighed 1;" in told
    assert "feedback already demotes the other 1." in told


def test_where_none_weighs_little_nothing_is_said(address: str, owner: Owner) -> None:
    mislead(owner, "org_a", [1.0, 0.3], OFF)
    assert "weigh under" not in said(address, org="org_a", kind="misleading")


def test_no_other_list_says_it(address: str, owner: Owner) -> None:
    mislead(owner, "org_a", [0.1], OFF)
    sample.add_retrieval(owner, "org_a", sample.unchanged(3), name="one")
    assert "weigh under" not in said(address, org="org_a", kind="lowest")
