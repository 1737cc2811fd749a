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
    from streamlit.testing.v1 import AppTest

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


REPEATED = "✕ to act on: exact duplicates 90 %, without a vector 100 %"


def named(test: AppTest) -> list[str]:
    """The organizations below the sentence, each with its reason."""
    assert not test.exception
    found = [line.value for line in test.text if "▼" in line.value or "✕" in line.value or "◆" in line.value]
    return [line.partition(", aggregation age")[0] for line in found]


def test_organizations_that_are_not_in_order_are_named_on_top_with_the_check(address: str, owner: Owner) -> None:
    """Ten observations that are all the same, to act on, in two organizations and then in five; else sessions alone."""
    for number in range(6):
        sample.add_organization(owner, f"org_{number}", "*Bold*" if number == 1 else f"Name {number}")
        add_sessions(owner, f"org_{number}", 5, 9, 10)

    def repeat(*orgs: str) -> None:
        for org in orgs:
            sample.add_observations(owner, org, 10)
        owner.execute("update observations set content_hash = 'same'")

    repeat("org_1", "org_3")
    with health(address) as test:
        assert named(test) == [f"{name} {REPEATED}" for name in ("*Bold*", "Name 3")]
    repeat("org_0", "org_2")
    with health(address) as test:
        assert [line.split(" ✕")[0] for line in named(test)] == ["*Bold*", "Name 0", "Name 2", "Name 3"]
        assert not [caption.value for caption in test.caption if "more in the table" in caption.value]
    repeat("org_4")
    with health(address) as test:
        assert [line.split(" ✕")[0] for line in named(test)] == ["*Bold*", "Name 0", "Name 2"]
        assert "2 organizations more in the table under Memory." in [caption.value for caption in test.caption]
    with health(address, org="org_3") as test:
        assert named(test) == []


def test_the_organization_in_which_the_sentences_measure_got_worse_is_named_and_opened(
    address: str, owner: Owner
) -> None:
    """Of three one fell, one has observations that are all the same and got better in sessions, one stayed."""
    for org, name, accepted in (("org_a", "Better", 95), ("org_b", "Fell", 30), ("org_c", "Stayed", 80)):
        sample.add_organization(owner, org, name)
        add_sessions(owner, org, 40, 80, 100)
        add_sessions(owner, org, 5, accepted, 100)
    sample.add_observations(owner, "org_a", 10)
    owner.execute("update observations set content_hash = 'same'")
    with health(address) as test:
        assert any("**sessions accepted** 80 % → 68.3 %" in each.value for each in test.markdown)
        assert named(test) == [
            "Fell ▼ worse: sessions accepted 80 % → 30 %",
            f"Better {REPEATED}",
        ]
        assert not any(caption.value.startswith("Worse over all") for caption in test.caption)
        test.button(key="whose_0").click().run()
        assert not test.exception
        assert test.query_params["org"] == "org_b"


def test_what_is_worse_over_all_and_certain_in_no_organization_is_said_so(address: str, owner: Owner) -> None:
    """In each of ten 32 of 40 sessions became 28: together that is no chance."""
    for number in range(10):
        org = f"org_{number}"
        sample.add_organization(owner, org, f"Name {number}")
        add_sessions(owner, org, 40, 32, 40)
        add_sessions(owner, org, 5, 28, 40)
    with health(address) as test:
        assert named(test) == []
        told = "Worse over all, but certain in no single organization: sessions accepted."
        assert told in [caption.value for caption in test.caption]


def test_that_nothing_got_worse_is_said_of_all_together_where_one_did(address: str, owner: Owner) -> None:
    """80 of 100 sessions became 40 in one of three, and as many more in the others: 80, 80, 80 to 40, 100, 100."""
    for org, accepted in (("org_a", 40), ("org_b", 100), ("org_c", 100)):
        sample.add_organization(owner, org)
        add_sessions(owner, org, 40, 80, 100)
        add_sessions(owner, org, 5, accepted, 100)
    told = "Over all organizations together, nothing got noticeably worse than in the 30 days before; worse in single "
    with health(address) as test:
        assert len(named(test)) == 1
        assert any(each.value.startswith(f":gray[○] {told}ones is listed below.") for each in test.markdown)
    with health(address, org="org_b") as test:
        assert any(each.value.startswith(":green[●] Nothing got noticeably worse") for each in test.markdown)


def test_what_may_be_chance_is_said_of_all_together_where_one_got_worse(address: str, owner: Owner) -> None:
    """80 of 100 became 50 in one and 80 of 100 became 97 in the other: 160 of 200 became 147."""
    for org, accepted in (("org_a", 50), ("org_b", 97)):
        sample.add_organization(owner, org)
        add_sessions(owner, org, 40, 80, 100)
        add_sessions(owner, org, 5, accepted, 100)
    told = "Over all organizations together, nothing is certain to have got worse than in the 30 days before; worse in "
    with health(address) as test:
        assert len(named(test)) == 1
        assert any(told in each.value for each in test.markdown)


def test_the_table_lists_organizations_in_the_order_of_the_lines_on_top(address: str, owner: Owner) -> None:
    """One that fell, one to act on, one where nothing is to say, by names and ids that would stand otherwise."""
    for org, name, accepted in (("org_a", "Quiet", 80), ("org_b", "Alike", 80), ("org_c", "Zelkova", 30)):
        sample.add_organization(owner, org, name)
        add_sessions(owner, org, 40, 80, 100)
        add_sessions(owner, org, 5, accepted, 100)
    sample.add_observations(owner, "org_b", 10)
    owner.execute("update observations set content_hash = 'same'")
    with health(address) as test:
        assert [line.split(" ")[0] for line in named(test)] == ["Zelkova", "Alike"]
        assert list(table(test, "organizations")["organization"]) == ["Zelkova", "Alike", "Quiet"]
