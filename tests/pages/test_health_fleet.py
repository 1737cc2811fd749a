"""What Health says of many organizations at once."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from controls import glossary
from tests import sample
from tests.health_store import NOW
from tests.pages.health_page import health, table

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]


def add_sessions(owner: Owner, org: str, days_ago: int, accepted: int, judged: int) -> None:
    owner.execute(
        """insert into sessions (org_id, id, project_id, outcome, created_at)
           select %s, %s || '/' || n, 'api', case when n <= %s then 'accepted' else 'rework' end, %s
             from generate_series(1, %s) n""",
        (org, str(days_ago), accepted, NOW - timedelta(days=days_ago), judged),
    )


def test_what_one_alone_would_call_worse_is_no_mark_among_many(address: str, owner: Owner) -> None:
    """Ten organizations stayed as they were; of one 45 of 60 sessions became 33, of another 45 became 15."""
    for number in range(12):
        org = f"org_{number:02}"
        sample.add_organization(owner, org, f"Name {number}")
        add_sessions(owner, org, 40, 45, 60)
        add_sessions(owner, org, 5, {3: 33, 8: 15}.get(number, 45), 60)
    with health(address) as test:
        assert not test.exception
        rows = table(test, "organizations").set_index("id")["worse"]
        captions = [caption.value for caption in test.caption]
    assert dict(rows[rows != "—"]) == {"org_08": "Sessions accepted 75 % → 25 %"}
    assert glossary.AMONG_MANY in captions
    with health(address, org="org_03") as test:
        change = table(test, "checks").set_index("check").loc["Sessions accepted", "change"]
        assert glossary.AMONG_MANY not in [caption.value for caption in test.caption]
    assert change == "▼ -20 pt worse"


def test_organizations_that_are_not_in_order_are_named_on_top(address: str, owner: Owner) -> None:
    """Ten observations that are all the same, to act on, in two organizations and then in four; else sessions alone."""
    for number in range(6):
        sample.add_organization(owner, f"org_{number}", "*Bold*" if number == 1 else f"Name {number}")
        add_sessions(owner, f"org_{number}", 5, 9, 10)

    def repeat(*orgs: str) -> None:
        for org in orgs:
            sample.add_observations(owner, org, 10)
        owner.execute("update observations set content_hash = 'same'")

    repeat("org_1", "org_3")
    with health(address) as test:
        assert not test.exception
        (said,) = [line.value for line in test.text if line.value.startswith("Organizations to act on")]
        assert said == "Organizations to act on: *Bold*, Name 3."
    repeat("org_2", "org_4")
    with health(address) as test:
        (said,) = [line.value for line in test.text if line.value.startswith("Organizations to act on")]
        assert said == "Organizations to act on: *Bold*, Name 2, Name 3 and 1 more."
    with health(address, org="org_3") as test:
        assert not [line for line in test.text if line.value.startswith("Organizations to act on")]
