"""What a link says of its window, and what the page makes of it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests import sample
from tests.pages.application import application
from tests.pages.test_shell import alerts

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]


@pytest.fixture(autouse=True)
def organizations(owner: Owner) -> None:
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
        sample.add_retrieval(owner, org, sample.unchanged(8), name="r")


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"window": "forever"}, "Window"),
        ({"window": "custom", "from": "rubbish", "to": "2026-01-31"}, "From"),
        ({"window": "custom", "from": "2026-02-30", "to": ""}, "From, To"),
        ({"window": "custom", "to": "2026-01-31"}, "To"),
        ({"from": "2026-02-30", "to": "2026-01-31"}, "From, To"),
        ({"from": "2026-01-01", "to": "rubbish"}, "To"),
        ({"to": "2026-01-31"}, "To"),
        ({"window": "7d", "from": "2026-01-01", "to": "2026-01-31"}, "From, To"),
        ({"window": "7d", "to": "2026-01-31"}, "To"),
    ],
)
def test_a_window_that_cannot_be_is_told_like_every_other_part_of_a_link(
    address: str, parameters: dict[str, str], told: str
) -> None:
    with application(address, **parameters) as test:
        assert f"Not understood in this link, and ignored: {told}." in alerts(test.run())[0]


@pytest.mark.parametrize(
    ("said", "outside", "shown"),
    [
        (("2997-01-01", "2997-02-01"), "after today", "{today} alone"),
        (("{month_ago}", "2997-02-01"), "after today", "{month_ago} to {today}"),
        (("1969-12-31", "1970-01-31"), "before 1970", "1970-01-01 to 1970-01-31"),
        (("1969-12-31", "2997-01-31"), "before 1970 and after today", "{year_ago} to {today}"),
        (("0001-01-01", "0001-01-02"), "before 1970", "1970-01-01 alone"),
    ],
)
def test_days_without_figures_are_told_in_the_banner_with_what_is_shown_instead(
    address: str, said: tuple[str, str], outside: str, shown: str
) -> None:
    today = datetime.now(UTC).date()
    days = {"today": today, "month_ago": today - timedelta(days=30), "year_ago": today - timedelta(days=365)}
    first, last, shown = (each.format(**days) for each in (*said, shown))
    with application(address, window="custom", **{"from": first, "to": last}) as test:
        (told,) = (each.value for each in test.run().warning)
        assert told == (
            f"The window in this link, {first} to {last}, has days {outside}, of which there are no figures. "
            f"Showing {shown} instead."
        )


def test_a_window_of_too_many_days_is_told_in_the_banner_with_what_is_shown_instead(address: str) -> None:
    with application(address, window="custom", **{"from": "2024-01-01", "to": "2025-01-01"}) as test:
        (told,) = (each.value for each in test.run().warning)
        assert told == (
            "The window in this link, 2024-01-01 to 2025-01-01, has more than 366 days. "
            "Showing 2024-01-02 to 2025-01-01 instead."
        )
    with application(address, window="custom", **{"from": "2024-01-01", "to": "2024-12-31"}) as test:
        assert not test.run().warning


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (("2031-01-01", "2020-01-01"), None),
        (("2024-01-01", "2025-01-01"), (date(2024, 1, 2), date(2025, 1, 1))),
        (("2026-01-20", "2026-01-01"), (date(2026, 1, 1), date(2026, 1, 20))),
    ],
    ids=["reversed and too long", "too long", "reversed"],
)
def test_the_pickers_have_the_days_that_are_shown(
    address: str, said: tuple[str, str], shown: tuple[date, date] | None
) -> None:
    today = datetime.now(UTC).date()
    first, last = shown or (today - timedelta(days=365), today)
    with application(address, **dict(zip(("from", "to"), said, strict=True))) as test:
        assert [picked.value for picked in test.run().sidebar.date_input] == [first, last]
        test.sidebar.date_input(key="pick_from").set_value(last - timedelta(days=5)).run()
        assert [picked.value for picked in test.sidebar.date_input] == [last - timedelta(days=5), last]
        assert not any("Showing" in told.value for told in test.warning)


class TestDaysWithoutTheWordCustom:
    """A link that was typed or shortened by hand says its days and not that they are a window of its own."""

    def test_they_are_the_window(self, address: str) -> None:
        with application(address, **{"from": "2026-01-01", "to": "2026-01-20"}) as test:
            assert not test.run().warning
            assert [test.sidebar.date_input(key=f"pick_{name}").value for name in ("from", "to")] == [
                date(2026, 1, 1), date(2026, 1, 20),
            ]  # fmt: skip
            assert test.sidebar.button_group(key="pick_window").value == "custom"

    def test_another_day_can_be_chosen_and_another_window(self, address: str) -> None:
        with application(address, **{"from": "2026-01-01", "to": "2026-01-20"}) as test:
            test.run().sidebar.date_input(key="pick_to").set_value(date(2026, 1, 10)).run()
            assert {name: test.query_params[name] for name in ("window", "from", "to")} == {
                "window": "custom", "from": "2026-01-01", "to": "2026-01-10",
            }  # fmt: skip
        with application(address, **{"from": "2026-01-01", "to": "2026-01-20"}) as test:
            test.run().sidebar.button_group(key="pick_window").set_value("30d").run()
            assert not {"window", "from", "to"} & set(test.query_params)
            assert not test.sidebar.date_input
