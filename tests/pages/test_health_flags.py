"""Flags that were turned in either window, which Health links beside what got worse."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from controls.health.change import OFF
from tests import sample
from tests.health_store import NOW
from tests.pages.health_page import health
from tests.pages.inspector_page import param
from tests.pages.test_health_change import add_sessions, said

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]

DAY = timedelta(days=1)


def turn_flag(owner: Owner, old: str, new: str, *, days_ago: int, flag: str = "feedback_weighting_disabled") -> None:
    owner.execute(
        """insert into rankscope.flag_changes (org_id, request_id, flag, old_state, new_state, reason, actor, source,
             changed_at) values ('org_a', gen_random_uuid(), %s, %s, %s, 'r', 'a', 'demo', %s)""",
        (flag, old, new, NOW - days_ago * DAY),
    )


def test_a_flag_that_was_turned_meanwhile_is_linked(address: str, owner: Owner) -> None:
    sample.add_organization(owner, "org_a")
    add_sessions(owner, 40, 90, 10)
    add_sessions(owner, 5, 50, 50)
    turn_flag(owner, "absent", "true", days_ago=33)
    with health(address, org="org_a") as test:
        labels = [button.label for button in test.button]
    assert f"Since {NOW - 33 * DAY:%-d %b}: weighting off" in labels
    assert "Did the flag cause it?" in labels
    assert "How sessions ended" not in labels
    with health(address, org="org_a", window="7d") as test:
        assert not [button for button in test.button if "weighting off" in button.label]
    turn_flag(owner, "true", "absent", days_ago=32)
    with health(address, org="org_a") as test:
        labels = [button.label for button in test.button]
    assert f"Since {NOW - 32 * DAY:%-d %b}: weighting on (default)" in labels
    assert f"{NOW - 33 * DAY:%-d %b} to {NOW - 32 * DAY:%-d %b}: weighting off" in labels
    assert not [label for label in labels if "changes of flags" in label]
    with health(address) as test:
        assert "2 changes of flags in these days" in [button.label for button in test.button]


def test_a_change_that_held_is_named_whatever_was_tried_since(address: str, owner: Owner) -> None:
    sample.add_organization(owner, "org_a")
    add_sessions(owner, 40, 90, 10)
    add_sessions(owner, 5, 50, 50)
    turn_flag(owner, "absent", "true", days_ago=33)
    for flag_states in (("absent", "true"), ("true", "absent"), ("absent", "true"), ("true", "absent")):
        turn_flag(owner, *flag_states, days_ago=0, flag="corroboration_boost_enabled")
    with health(address, org="org_a") as test:
        assert test.button(key="way_0").label == f"Since {NOW - 33 * DAY:%-d %b}: weighting off"
        assert "All 5 changes of flags in these days" in [button.label for button in test.button]
        test.button(key="way_0").click().run()
        assert param(test, "change") == "1"


def test_changes_are_counted_in_their_windows_however_many_there_are(address: str, owner: Owner) -> None:
    """Sixty in the last days, and one that lies a hundred days back: in a window of those days it is the only one."""
    sample.add_organization(owner, "org_a")
    for days_ago in (115, 105, 40, 5):
        add_sessions(owner, days_ago, 5, 5)
    turn_flag(owner, "absent", "true", days_ago=108)
    for number in range(60):
        turn_flag(owner, *(("true", "absent") if number % 2 else ("absent", "true")), days_ago=3)
    with health(address, org="org_a") as test:
        assert "All 60 changes of flags in these days" in [button.label for button in test.button]
    then = {"from": f"{NOW - 110 * DAY:%Y-%m-%d}", "to": f"{NOW - 101 * DAY:%Y-%m-%d}"}
    with health(address, org="org_a", window="custom", **then) as test:
        assert not test.exception
        assert f"{NOW - 108 * DAY:%-d %b} to {NOW - 3 * DAY:%-d %b}: weighting off" in [
            button.label for button in test.button
        ]


def test_where_weighting_is_off_the_flag_leads_on_instead_of_a_page_without_a_comparison(
    address: str, owner: Owner
) -> None:
    """It was turned long before both windows, so that no change of these days names it."""
    sample.add_organization(owner, "org_a")
    add_sessions(owner, 10, 90, 10)
    add_sessions(owner, 5, 50, 50)
    with health(address, org="org_a", window="7d") as test:
        labels = [button.label for button in test.button]
        assert "**Sessions accepted 50 %** (▼ -40 pt worse). See in Feedback Impact" in said(test)
    assert "How sessions ended" in labels
    assert OFF not in labels
    owner.execute("""update organizations set features = '{"feedback_weighting_disabled": true}'""")
    with health(address, org="org_a", window="7d") as test:
        (button,) = [button for button in test.button if button.label == OFF]
        assert "How sessions ended" not in [each.label for each in test.button]
        assert "**Sessions accepted 50 %** (▼ -40 pt worse). Weighting is off here" in said(test)
        button.click().run()
        assert (param(test, "target"), param(test, "flag")) == ("org_a", "feedback_weighting_disabled")
