"""What is said of the time before a switch: a trend of enough sessions, or that none can be told."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.jobs.command import ROOT

PAGE = ROOT / "tests" / "controls" / "what_if" / "ladder_page.py"


def said(first: int, second: int) -> str:
    test = AppTest.from_file(PAGE)
    test.query_params["first"], test.query_params["second"] = str(first), str(second)
    assert not test.run().exception
    return test.caption[0].value


def test_of_two_sessions_nothing_was_moving_already() -> None:
    told = said(2, 38)
    assert "No pre-trend can be told: 2 sessions in the first half of the time before and 38 in the second" in told
    assert "moving already" not in told


def test_of_enough_it_was() -> None:
    assert "Pre-trend, second against first half of the time before: -50 pt" in said(40, 40)
    assert "it was moving already" in said(40, 40)
