"""Feedback Impact where every retrieval was made while weighting was off: no figure, and two ways on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests import sample
from tests.pages.application import application
from tests.pages.impact_page import PAGE
from tests.pages.inspector_page import param
from tests.weighed import add_observed, add_weighed

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]


@pytest.fixture(autouse=True)
def _unweighted(owner: Owner) -> None:
    sample.add_organization(owner, "org_a")
    add_weighed(owner, "org_a", add_observed(owner, "org_a"), 4, on=False)


def ways(test: AppTest) -> list[str]:
    return [str(button.key) for button in test.button if str(button.key).startswith("unweighted_")]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("unweighted_flag", {"target": "org_a", "flag": "feedback_weighting_disabled"}),
        ("unweighted_what_if", {"w": "on", "org": "org_a"}),
    ],
)
def test_the_flag_and_a_replay_with_weighting_lead_on(address: str, key: str, expected: dict[str, str]) -> None:
    with application(address, org="org_a") as test:
        test.switch_page(PAGE).run()
        assert test.subheader[0].value == "No retrieval in this selection can say what feedback changed"
        test.button(key=key).click().run()
        assert not test.exception
        assert {name: param(test, name) for name in expected} == expected


def test_over_all_organizations_no_flag_is_meant(address: str) -> None:
    with application(address) as test:
        test.switch_page(PAGE).run()
        assert ways(test) == []


def test_where_something_can_be_compared_nothing_else_is_offered(address: str, owner: Owner) -> None:
    ids = [id_ for (id_,) in owner.execute("select id from observations where org_id = 'org_a'").fetchall()]
    add_weighed(owner, "org_a", ids, 1)
    with application(address, org="org_a") as test:
        test.switch_page(PAGE).run()
        assert test.subheader[0].value.startswith("Feedback changed the top 5 in")
        assert ways(test) == []
