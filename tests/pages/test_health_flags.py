"""Flags that were turned in either window, which Health links beside what got worse."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from controls.health.change import BY_FLAG, OF_FLAG, OFF
from tests import sample
from tests.health_store import NOW
from tests.pages.health_page import days, health
from tests.pages.inspector_page import param
from tests.pages.overview_page import matrix
from tests.pages.test_health_change import add_sessions, said

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]

DAY = timedelta(days=1)
SECOND = 1 / 86_400  # days
WEIGHTING, BOOST = "feedback_weighting_disabled", "corroboration_boost_enabled"


def turn_flag(owner: Owner, old: str, new: str, *, days_ago: float, flag: str = WEIGHTING, org: str = "org_a") -> None:
    owner.execute(
        """insert into rankscope.flag_changes (org_id, request_id, flag, old_state, new_state, reason, actor, source,
             changed_at) values (%s, gen_random_uuid(), %s, %s, %s, 'r', 'a', 'demo', %s)""",
        (org, flag, old, new, NOW - days_ago * DAY),
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


def test_a_flag_that_was_tried_and_taken_back_explains_nothing(address: str, owner: Owner) -> None:
    """The boost of three organizations for 21 seconds: the one change that held is still named over all of them."""
    for org in ("org_a", "org_b", "org_c"):
        sample.add_organization(owner, org)
    add_sessions(owner, 40, 90, 10)
    add_sessions(owner, 5, 50, 50)
    turn_flag(owner, "absent", "true", days_ago=33)
    for org in ("org_a", "org_b", "org_c"):
        turn_flag(owner, "false", "true", days_ago=2, flag=BOOST, org=org)
        turn_flag(owner, "true", "false", days_ago=2 - 21 * SECOND, flag=BOOST, org=org)
    with health(address, org="org_a") as test:
        assert test.button(key="way_0").label == f"Since {NOW - 33 * DAY:%-d %b}: weighting off"
        assert not [button for button in test.button if "boost" in button.label or "of flags" in button.label]
        assert [each["text"] for each in days(test)["layout"]["annotations"]] == [
            "window before", f"{NOW - 33 * DAY:%-d %b}: weighting off"
        ]  # fmt: skip
        test.button(key="way_0").click().run()
        assert param(test, "change") == "1"
    with health(address) as test:
        assert test.button(key="way_0").label == f"Since {NOW - 33 * DAY:%-d %b}: weighting off in one organization"


def test_several_changes_lead_to_the_history_of_what_they_have_in_common(address: str, owner: Owner) -> None:
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
    add_sessions(owner, 40, 90, 10)
    add_sessions(owner, 5, 50, 50)
    turn_flag(owner, "absent", "true", days_ago=33)
    turn_flag(owner, "absent", "true", days_ago=9, org="org_b")
    with health(address) as test:
        (button,) = [each for each in test.button if each.label == "2 changes of flags in these days"]
        button.click().run()
        assert param(test, "changed") == WEIGHTING
        assert "org" not in test.query_params
    turn_flag(owner, "absent", "true", days_ago=8, org="org_b", flag=BOOST)
    with health(address) as test:
        (button,) = [each for each in test.button if each.label == "3 changes of flags in these days"]
        button.click().run()
        assert "changed" not in test.query_params


def test_changes_are_counted_in_their_windows_however_many_there_are(address: str, owner: Owner) -> None:
    """Fifty, a day each, and one that lies a hundred days back: in a window of those days it is the only one."""
    sample.add_organization(owner, "org_a")
    for days_ago in (115, 105, 40, 5):
        add_sessions(owner, days_ago, 5, 5)
    turn_flag(owner, "absent", "true", days_ago=108)
    for number in range(50):
        turn_flag(owner, *(("absent", "true") if number % 2 else ("true", "absent")), days_ago=52 - number)
    with health(address, org="org_a") as test:
        assert "All 50 changes of flags in these days" in [button.label for button in test.button]
    then = {"from": f"{NOW - 110 * DAY:%Y-%m-%d}", "to": f"{NOW - 101 * DAY:%Y-%m-%d}"}
    with health(address, org="org_a", window="custom", **then) as test:
        assert not test.exception
        assert f"{NOW - 108 * DAY:%-d %b} to {NOW - 52 * DAY:%-d %b}: weighting off" in [
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
        named = ("target", "flag", "changed")
        assert [param(test, name) for name in named] == ["org_a", *["feedback_weighting_disabled"] * 2]


def test_where_the_audit_has_the_change_that_holds_weighting_off_it_is_opened(address: str, owner: Owner) -> None:
    sample.add_organization(owner, "org_a", features={"feedback_weighting_disabled": True})
    add_sessions(owner, 10, 90, 10)
    add_sessions(owner, 5, 50, 50)
    turn_flag(owner, "absent", "true", days_ago=60)
    (number,) = owner.execute("select max(id) from rankscope.flag_changes").fetchone() or (None,)
    with health(address, org="org_a", window="7d") as test:
        next(button for button in test.button if button.label == OFF).click().run()
        assert (param(test, "change"), test.subheader[0].value) == (str(number), f"Change {number}")
    turn_flag(owner, "true", "absent", days_ago=50)  # and set outside since
    with health(address, org="org_a", window="7d") as test:
        next(button for button in test.button if button.label == OFF).click().run()
        assert "change" not in test.query_params
        assert param(test, "changed") == "feedback_weighting_disabled"


def test_a_flip_of_a_minute_does_not_hide_since_when_and_why(address: str, owner: Owner) -> None:
    """Weighting tried and off again after 65 seconds: the link, the figure and the age tell of the change before."""
    sample.add_organization(owner, "org_a", "Alder", features={WEIGHTING: True})
    add_sessions(owner, 10, 90, 10)
    add_sessions(owner, 5, 50, 50)
    turn_flag(owner, "absent", "true", days_ago=120.5)
    (number,) = owner.execute("select max(id) from rankscope.flag_changes").fetchone() or (None,)
    turn_flag(owner, "true", "absent", days_ago=1)
    turn_flag(owner, "absent", "true", days_ago=1 - 65 * SECOND)
    with health(address, org="org_a", window="7d") as test:
        next(button for button in test.button if button.label == OFF).click().run()
        assert (param(test, "change"), test.subheader[0].value) == (str(number), f"Change {number}")
        assert {each.label: each.value for each in test.metric}["Stale"] == "1"
        assert any("stale override" in each.label for each in test.expander)
        test.switch_page("overview.py").run()
        assert [age[:9] for age in matrix(test)["override"]] == ["stale, 12"]


def test_a_change_that_held_in_days_gone_by_is_not_why_weighting_is_off_now(address: str, owner: Owner) -> None:
    """Switched off before the window, on after it, and off again outside."""
    sample.add_organization(owner, "org_a", features={"feedback_weighting_disabled": True})
    add_sessions(owner, 20, 90, 10)
    add_sessions(owner, 15, 50, 50)
    turn_flag(owner, "absent", "true", days_ago=60)
    turn_flag(owner, "true", "absent", days_ago=3)
    first, last = (f"{NOW - days * DAY:%Y-%m-%d}" for days in (17, 11))
    with health(address, org="org_a", window="custom", **{"from": first, "to": last}) as test:
        next(button for button in test.button if button.label == OFF).click().run()
        assert "change" not in test.query_params
        assert param(test, "changed") == "feedback_weighting_disabled"


def test_one_change_of_a_flag_that_is_not_known_any_more_is_one_change(address: str, owner: Owner) -> None:
    sample.add_organization(owner, "org_a")
    add_sessions(owner, 10, 90, 10)
    add_sessions(owner, 5, 50, 50)
    turn_flag(owner, "absent", "true", days_ago=3, flag="retired")
    with health(address, org="org_a", window="7d") as test:
        told = [button.label for button in test.button if "of flags in these days" in button.label]
    assert told == ["1 change of flags in these days"]


def asked(address: str, **said: str) -> list[str]:
    """What the links to What-if ask, with what leads elsewhere with the sessions."""
    with health(address, **said) as test:
        assert not test.exception
        known = (BY_FLAG[1], OF_FLAG[1], "How sessions ended")
        return [button.label for button in test.button if button.label in known]


def test_a_flag_that_was_turned_is_asked_after_also_where_nothing_got_worse(address: str, owner: Owner) -> None:
    """60 of 100 sessions became 90 of 100, 90 of 155, 90 of 255: only the last may be an effect of something."""
    sample.add_organization(owner, "org_a")
    add_sessions(owner, 40, 60, 40)
    turn_flag(owner, "absent", "true", days_ago=33)
    for days_ago, accepted, rework, expected in ((5, 90, 10, OF_FLAG), (4, 0, 55, OF_FLAG), (3, 0, 100, BY_FLAG)):
        add_sessions(owner, days_ago, accepted, rework)
        assert asked(address, org="org_a") == [expected[1]]
    assert asked(address, org="org_a", window="7d") == []
    assert asked(address) == ["How sessions ended"]


def test_a_flag_is_asked_after_where_nothing_was_before_to_compare_with(address: str, owner: Owner) -> None:
    sample.add_organization(owner, "org_a")
    add_sessions(owner, 5, 50, 50)
    turn_flag(owner, "absent", "true", days_ago=9)
    with health(address, org="org_a") as test:
        assert any(each.value.startswith("Nothing was stored or logged in") for each in test.caption)
        labels = [button.label for button in test.button]
        assert f"Since {NOW - 9 * DAY:%-d %b}: weighting off" in labels
        next(button for button in test.button if button.label == OF_FLAG[1]).click().run()
        assert param(test, "show") == "outcomes"


def test_a_switch_that_what_if_does_not_reach_is_not_asked_after_there(address: str, owner: Owner) -> None:
    """Of 90 days the window before begins 180 days ago, and What-if looks back 90."""
    sample.add_organization(owner, "org_a")
    add_sessions(owner, 140, 90, 10)
    add_sessions(owner, 5, 50, 50)
    turn_flag(owner, "absent", "true", days_ago=100)
    assert asked(address, org="org_a", window="90d") == ["How sessions ended"]
