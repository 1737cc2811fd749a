"""Feedback Impact where every retrieval was made while weighting was off: no figure, and two ways on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests import sample
from tests.pages.application import application
from tests.pages.impact_page import PAGE
from tests.pages.inspector_page import param
from tests.queries.flags.flag_store import WEIGHTING
from tests.weighed import add_observed, add_weighed

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]


@pytest.fixture(autouse=True)
def _unweighted(owner: Owner) -> None:
    sample.add_organization(owner, "org_a")
    add_weighed(owner, "org_a", add_observed(owner, "org_a"), 4, on=False)


def said(test: AppTest, name: str) -> str | None:
    return param(test, name) if name in test.query_params else None


def ways(test: AppTest) -> list[str]:
    return [str(button.key) for button in test.button if str(button.key).startswith("unweighted_")]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("unweighted_flag", {"target": "org_a", "flag": WEIGHTING, "changed": WEIGHTING, "change": None}),
        ("unweighted_what_if", {"w": "on", "org": "org_a"}),
    ],
)
def test_the_flag_and_a_replay_with_weighting_lead_on(address: str, key: str, expected: dict[str, str | None]) -> None:
    with application(address, org="org_a") as test:
        test.switch_page(PAGE).run()
        assert test.subheader[0].value == "No retrieval in this selection can say what feedback changed"
        test.button(key=key).click().run()
        assert not test.exception
        assert {name: said(test, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("changes", "opened"),
    [
        ([("absent", "true", 3)], 0),
        ([("absent", "true", 3), ("true", "absent", 0)], 0),  # on again by now, and off while they were made
        ([("absent", "true", 90), ("true", "absent", 80)], None),  # long over when they were made
    ],
)
def test_the_change_that_held_weighting_off_is_opened(
    address: str, owner: Owner, changes: list[tuple[str, str, int]], opened: int | None
) -> None:
    made = []
    for old, new, days in changes:
        row = owner.execute(
            """insert into rankscope.flag_changes
                 (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
               values ('org_a', gen_random_uuid(), %s, %s, %s, 'trial', 'olga', 'test', now() - %s * interval '1 day')
               returning id""",
            (WEIGHTING, old, new, days),
        ).fetchone()
        assert row
        made.append(str(row[0]))
    with application(address, org="org_a") as test:
        test.switch_page(PAGE).run()
        test.button(key="unweighted_flag").click().run()
        assert not test.exception
        assert said(test, "change") == (None if opened is None else made[opened])


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
