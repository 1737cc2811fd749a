"""What is said of the time before a switch: a trend of enough sessions, or that none can be told."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from tests.jobs.command import ROOT

PAGE = ROOT / "tests" / "controls" / "what_if" / "ladder_page.py"


def shown(first: int, second: int, after: str = "half", both: int = 0, began: int = 100, **more: str) -> AppTest:
    test = AppTest.from_file(PAGE, default_timeout=30)
    for name, value in more.items():
        test.query_params[name] = value
    test.query_params["first"], test.query_params["second"] = str(first), str(second)
    test.query_params["after"], test.query_params["both"], test.query_params["began"] = after, str(both), str(began)
    assert not test.run().exception
    return test


def said(first: int, second: int, after: str = "half", both: int = 0) -> str:
    test = shown(first, second, after, both)
    return f"{test.markdown[2].value} {test.caption[0].value}"


def test_of_two_sessions_nothing_was_moving_already() -> None:
    told = said(2, 38, "none")
    assert "No pre-trend can be told: 2 sessions in the first half of the time before and 38 in the second" in told
    assert "**After the switch fewer sessions were accepted; whether that began before it cannot be told.**" in told
    assert "already" not in told


def test_a_trend_that_goes_on_may_be_the_cause() -> None:
    told = said(40, 40, "none")
    assert "Pre-trend, second against first half of the time before: -50 pt" in told
    assert "**After the switch fewer sessions were accepted, but their share was falling already, so the switch" in told
    assert "need not be the cause.**" in told


def test_a_trend_that_turned_is_not() -> None:
    told = said(40, 40, "all")
    assert "Pre-trend, second against first half of the time before: -50 pt" in told
    assert "**After the switch more sessions were accepted, and the trend before it went the other way.**" in told
    assert "need not be the cause" not in told


def test_an_interval_that_holds_0_tells_nothing() -> None:
    told = said(0, 40)
    assert "**Whether the switch changed anything cannot be told: the interval of the difference holds 0.**" in told
    assert "After the switch" not in told


def test_sessions_on_both_sides_are_counted_so_that_the_sides_add_up() -> None:
    assert (
        "of 80 sessions before, 50 % of 40 after; 1 session with retrievals on both sides of the switch in neither."
        in (said(40, 40, both=1))
    )
    assert "neither" not in said(40, 40)


@pytest.mark.parametrize(("began", "when"), [(90, "on 1 Apr"), (100, "between 1 Apr and 11 Apr")])
def test_the_difference_is_since_the_switch_and_not_of_the_window(began: int, when: str) -> None:
    """Sessions before it began on 1 January and on 1 April 1970, the first after it so many days after New Year."""
    test = shown(40, 40, "all", began=began)
    (chart,) = test.get("plotly_chart")
    lines = json.loads(chart.proto.spec)["layout"]["title"]["text"].split("<br>")
    title = " ".join(lines)
    assert title.startswith("Accepted +25 pt (95 %: +")
    assert title.endswith(f" since weighting went on {when}")
    against = "after it against before it, not, as on Health, this window against the one before."
    assert test.text[0].value == f"{title}: {against} Outcomes, below the map, has the rest."
    assert test.markdown[1].value.endswith(f"up to this window's end: {against}")


def test_an_estimate_of_many_sessions_has_all_its_digits() -> None:
    test = shown(40, 40, weighed="2345.6 1250 0.02 0.98")
    assert [figure.value for figure in test.metric] == ["2,346", "1,250", "2 %", "0.98"]
