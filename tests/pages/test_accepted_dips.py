"""Sessions that are better only against a dip: the sentence, the figures, the tables and the picture say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from charts.look import NEUTRAL, UP
from queries.engine import Store
from queries.errors import StoreError
from queries.health.by_day import EndedOfSome
from tests import sample
from tests.health_store import NOW
from tests.pages.application import application
from tests.pages.health_page import days, health, table
from tests.pages.overview_page import matrix
from tests.pages.test_health_flags import DAY
from tests.pages.test_health_fleet import add_sessions
from tests.pages.test_overview_accepted import GREEN, GREY, figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]

FALLEN = (44, 46, 48)  # days ago, alone in the seven days up to 43 days ago
DIP = f"10 % in the 7 days up to {NOW - 43 * DAY:%-d %b}, 90 % without it"


def plant(owner: Owner, org: str, fallen: Sequence[int], now: int = 9) -> None:
    """Ten sessions every other day of both windows: nine accepted, one on the days that fell, and so many now."""
    sample.add_organization(owner, org, org.upper())
    for ago in range(0, 60, 2):
        add_sessions(owner, org, ago, now if ago < 30 else 1 if ago in fallen else 9, 10)


def explained(test: AppTest) -> str:
    return str(next(metric for metric in test.metric if metric.label == "Accepted").help)


def ink(test: AppTest) -> str:
    """The colour of the line of accepted sessions."""
    trace = next(trace for trace in days(test)["data"] if trace.get("name") == "accepted, 7 days")
    return str(trace["line"]["color"])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[EndedOfSome]:
    """What was asked about single days of some organizations."""
    found: list[EndedOfSome] = []
    ask_all = Store.ask_all

    def listen(store: Store, *questions: Any) -> Any:  # noqa: ANN401 - as it is
        found.extend(each for each in questions if isinstance(each, EndedOfSome))
        return ask_all(store, *questions)

    monkeypatch.setattr(Store, "ask_all", listen)
    return found


def test_figures_tables_and_line_say_what_the_sentence_says(address: str, owner: Owner) -> None:
    """111 of 150 and then 135 of 150; 120 + 15 of 150 without the dip."""
    plant(owner, "org_a", FALLEN)
    told = ("90 %", "+16 pt against a dip", GREY)
    with health(address, org="org_a") as test:
        assert any(f"74 % → 90 %, against a dip: {DIP}." in each.value for each in test.markdown)
        assert figure(test, "Accepted") == told
        assert DIP in explained(test)
        change = table(test, "checks").set_index("check").loc["Sessions accepted", "change"]
        assert change == "▲ +16 pt against a dip"
        assert ink(test) == NEUTRAL
    with application(address, org="org_a") as test:
        assert figure(test.run(), "Accepted") == ("90 %", "+16 pt (dip)", GREY)
        assert DIP in explained(test)
        assert matrix(test)["accepted"].to_dict() == {"org_a": "90 % ▲ +16 pt (dip) ›"}


def test_what_is_better_than_every_week_is_called_so(address: str, owner: Owner, asked: list[EndedOfSome]) -> None:
    plant(owner, "org_a", range(30, 60, 4), 10)
    with health(address, org="org_a") as test:
        assert figure(test, "Accepted")[1:] == ("+53 pt better", GREEN)
        assert ink(test) == UP
    asked.clear()
    with application(address, org="org_a") as test:
        assert figure(test.run(), "Accepted")[1:] == ("+53 pt better", GREEN)
        assert "dip" not in explained(test)
    assert len(asked) == 1


def test_each_organization_has_its_own_and_one_question_is_asked_for_all(
    address: str, owner: Owner, asked: list[EndedOfSome]
) -> None:
    """One had a dip, one is better, one stayed; together 111 + 71 + 135 of 450 became 135 + 150 + 135."""
    plant(owner, "org_a", FALLEN)
    plant(owner, "org_b", range(30, 60, 4), 10)
    plant(owner, "org_c", ())
    with application(address) as test:
        assert matrix(test.run())["accepted"].to_dict() == {
            "org_a": "90 % ▲ +16 pt (dip) ›",
            "org_b": "100 % ▲ +53 pt better ›",
            "org_c": "90 % = ›",
        }
        assert any("window before, (dip) where it is better only than" in each.value for each in test.caption)
        assert figure(test, "Accepted")[1:] == ("+23 pt better", GREEN)
        assert not test.exception
    assert [(each.orgs, each.every) for each in asked] == [(("org_a", "org_b"), True)]
    with health(address) as test:
        assert figure(test, "Accepted")[1:] == ("+23 pt better", GREEN)


def test_the_dip_of_all_together_is_told_with_organizations_that_stayed(address: str, owner: Owner) -> None:
    """Two fell in the same week: 111 + 111 + 135 of 450 became 405; without that week 81 + 81 + 81 of 90 and more."""
    plant(owner, "org_a", FALLEN)
    plant(owner, "org_b", FALLEN)
    plant(owner, "org_c", ())
    with health(address) as test:
        expected = figure(test, "Accepted")
        said = explained(test).partition("Against a dip")[2]
    assert expected == ("90 %", "+11 pt against a dip", GREY)
    assert f"36.7 % in the 7 days up to {NOW - 43 * DAY:%-d %b}, 90 % without it" in said
    with application(address) as test:
        assert figure(test.run(), "Accepted") == ("90 %", "+11 pt (dip)", GREY)
        assert explained(test).partition("Against a dip")[2] == said


@pytest.mark.parametrize(("window", "fallen"), [("30d", ()), ("7d", (8, 10, 12))])
def test_where_none_is_better_or_the_window_is_short_nothing_more_is_asked(
    address: str, owner: Owner, asked: list[EndedOfSome], window: str, fallen: tuple[int, ...]
) -> None:
    sample.add_organization(owner, "org_a")
    for ago in range(0, 60, 2):
        add_sessions(owner, "org_a", ago, 1 if ago in fallen else 9, 10)
    with application(address, window=window) as test:
        change = figure(test.run(), "Accepted")[1]
    assert change.endswith("better" if fallen else "no change")
    assert asked == []


def test_where_the_days_cannot_be_known_nothing_is_claimed(
    address: str, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(owner, "org_a", FALLEN)
    ask_all = Store.ask_all

    def fail(store: Store, *questions: Any) -> Any:  # noqa: ANN401 - as it is
        if any(isinstance(each, EndedOfSome) for each in questions):
            raise StoreError("slow", "It took too long.")
        return ask_all(store, *questions)

    monkeypatch.setattr(Store, "ask_all", fail)
    with application(address, org="org_a") as test:
        assert figure(test.run(), "Accepted") == ("90 %", "+16 pt better", GREEN)
        assert not test.exception
