"""Drift Alerts for all organizations: which of them has the most to look at."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests import sample
from tests.pages.application import application

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]

NAMES = {"org_a": "Acme", "org_b": "Birch", "org_c": "Cedar *x*", "org_d": "Dogwood"}


def passed(owner: Owner, org: str, states: Sequence[str | None]) -> None:
    """A finished pass that kept one contradiction of each state; None is one that nobody touched."""
    row = owner.execute(
        """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version)
           values (%s, 'api', 'done', 'v') returning id""",
        (org,),
    ).fetchone()
    assert row
    for place, state in enumerate(states):
        owner.execute(
            """insert into rankscope.contradictions values
               (%s, %s, %s, %s, gen_random_uuid(), gen_random_uuid(), 'value', 'r', 1, 1, '{}', '[]')""",
            (org, row[0], place, f"{org[-1]}{place}"),
        )
        if state is not None:
            until = datetime.now(UTC) + timedelta(days=1) if state == "snoozed" else None
            owner.execute(
                """insert into rankscope.drift_triage (org_id, fingerprint, state, changed_by, snoozed_until)
                   values (%s, %s, %s, 'me', %s)""",
                (org, f"{org[-1]}{place}", state, until),
            )


@pytest.fixture
def _fleet(owner: Owner) -> None:
    for org, name in NAMES.items():
        sample.add_organization(owner, org, name)
    passed(owner, "org_b", [])
    passed(owner, "org_c", [None, None, "acknowledged", "false_positive"])
    passed(owner, "org_d", [None, "snoozed"])


def offered(test: AppTest) -> list[str]:
    return [
        line.value for line in test.text if line.value in NAMES.values() or "—" in line.value or "new" in line.value
    ]


@pytest.mark.usefixtures("_fleet")
def test_the_most_new_come_first_and_no_pass_is_no_zero(address: str) -> None:
    with application(address) as test:
        test.switch_page("drift_alerts.py").run()
        assert not test.exception
        assert offered(test) == [
            "Cedar *x*", "2 new · 3 in all", "Dogwood", "1 new · 2 in all", "Birch", "0 new · 0 in all", "Acme", "—",
        ]  # fmt: skip
        test.button("enter_0").click().run()
        assert test.query_params["org"] == "org_c"


@pytest.mark.usefixtures("_fleet")
def test_whose_an_alert_of_a_link_is_comes_first_and_opens_it(address: str) -> None:
    with application(address) as test:
        test.query_params["alert"] = "d1"
        test.switch_page("drift_alerts.py").run()
        assert [line.value for line in test.info if line.value.endswith("chosen. The first below has it.")]
        first = [line.value for line in test.text if line.value in {*NAMES.values(), "has this alert"}]
        assert first[:3] == ["Dogwood", "has this alert", "Cedar *x*"]
        test.button("enter_0").click().run()
        assert (test.query_params["org"], test.query_params["alert"]) == ("org_d", "d1")


@pytest.mark.usefixtures("_fleet")
@pytest.mark.parametrize("gone", ["drift_triage", "simhashes"])
def test_nothing_is_said_of_whose_an_alert_is_where_that_cannot_be_read_or_shown(
    address: str, owner: Owner, gone: str
) -> None:
    owner.execute(f"drop table rankscope.{gone} cascade".encode())  # one of two names of ours
    with application(address) as test:
        test.query_params["alert"] = "d1"
        test.switch_page("drift_alerts.py").run()
        assert [line.value for line in test.info if line.value.endswith("once its organization is chosen.")]


@pytest.mark.usefixtures("_fleet")
def test_without_our_schema_the_names_stand_alone(address: str, owner: Owner) -> None:
    owner.execute("drop schema rankscope cascade")
    with application(address) as test:
        test.switch_page("drift_alerts.py").run()
        assert not test.exception
        assert offered(test) == sorted(NAMES.values())


@pytest.mark.usefixtures("_fleet")
def test_other_pages_offer_names_alone(address: str) -> None:
    with application(address) as test:
        test.switch_page("corroboration.py").run()
        assert offered(test) == sorted(NAMES.values())
