"""Since when: Health's figures by day over both windows, and accepted sessions beside the flags that were turned."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from controls.health.days import said
from tests import sample
from tests.health_store import NOW, frames, inside, plant
from tests.pages.health_page import SCOPE, days, health, numbers
from tests.pages.test_health_flags import DAY, turn_flag
from tests.pages.test_health_fleet import add_sessions

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]


def line(test: AppTest, label: str, of: str = "each day") -> list[float]:
    """A measure by day; nothing where it has no line."""
    drawn = [trace for trace in days(test)["data"] if trace.get("name") == f"{label}, {of}"]
    return [math.nan if value is None else value for trace in drawn for value in numbers(trace["y"])]


def marks(test: AppTest) -> list[str]:
    return [each["text"] for each in days(test)["layout"]["annotations"] if each["text"] != "window before"]


def test_a_figure_has_a_value_for_each_day_of_both_windows_and_a_gap_where_a_day_has_none(
    address: str, owner: Owner
) -> None:
    """Seven days and the seven before: 3 of 4, later 1 of 2, and today 1 of 1."""
    sample.add_organization(owner, "org_a")
    add_sessions(owner, "org_a", 9, 3, 4)
    add_sessions(owner, "org_a", 4, 1, 2)
    add_sessions(owner, "org_a", 0, 1, 1)
    with health(address, org="org_a", window="7d") as test:
        assert not test.exception
        drawn, weeks = line(test, "accepted"), line(test, "accepted", "7 days")
    assert {place: value for place, value in enumerate(drawn) if not math.isnan(value)} == {4: 75, 9: 50, 13: 100}
    assert len(drawn) == 14
    fours, whole = [75.0] * 5, 100 * 4 / 6
    assert weeks[4:] == pytest.approx([*fours, whole, whole, 50.0, 50.0, 100 * 2 / 3])
    assert all(map(math.isnan, weeks[:4]))


def test_lines_equal_the_slow_answer(address: str, owner: Owner) -> None:
    plant(owner, 7)
    tables = frames(owner, SCOPE)
    both = SCOPE.before().since
    sessions = tables["sessions"].dropna(subset="outcome")
    log = (
        tables["retrieval_ab_logs"]
        .groupby("retrieval_id")
        .agg(
            created_at=("created_at", "min"),
            size=("id", "size"),
            best=("unweighted_rank", "max"),
            least=("weighted_rank", "max"),
        )
    )
    parts = {
        "accepted": (sessions, sessions["outcome"] == "accepted"),
        "log coverage": (log, (log["best"] == log["size"] - 1) & (log["least"] == log["size"] - 1)),
    }
    with health(address, org="org_a") as test:
        drawn = {label: line(test, label) for label in parts}
    for label, (rows, good) in parts.items():
        each_day = [both + timedelta(days=number) for number in range(2 * SCOPE.days)]
        expected = [
            100 * float(good[(rows["created_at"] >= day) & (rows["created_at"] < day + timedelta(days=1))].mean())
            for day in each_day
        ]
        assert drawn[label] == pytest.approx(expected, nan_ok=True), label
        assert sum(not math.isnan(value) for value in expected) > len(inside(rows, SCOPE)) / len(rows)


def test_figures_are_alike_and_what_is_kept_by_day_has_a_picture(address: str, owner: Owner) -> None:
    plant(owner, 7)
    with health(address, org="org_a") as test:
        assert [len(metric.proto.chart_data) for metric in test.metric] == [0] * 5
        assert [trace["name"] for trace in days(test)["data"]] == [
            f"{name}, {of}" for name in ("accepted", "log coverage") for of in ("each day", "7 days")
        ]


@pytest.mark.parametrize("kind", ["sessions", "log"])
def test_a_picture_of_one_measure_speaks_of_no_other(address: str, owner: Owner, kind: str) -> None:
    sample.add_organization(owner, "org_a")
    if kind == "sessions":
        add_sessions(owner, "org_a", 4, 1, 2)
    else:
        sample.add_retrieval(owner, "org_a", sample.unchanged(4), name="one", days_ago=4)
    with health(address, org="org_a", window="7d") as test:
        assert not test.exception
        title = days(test)["layout"]["title"]["text"].partition("<br>")[0]
        alt = test.get("plotly_chart")[0].proto.alt.partition(".")[0]
    name = {"sessions": "Sessions accepted", "log": "Log coverage"}[kind]
    assert title == f"{name} by day"
    assert alt == f"{name} by day and by seven days together, this window and the one before"


@pytest.mark.parametrize(("count", "together"), [(6, ""), (7, " and by seven days together")])
def test_of_fewer_than_seven_days_no_line_of_seven_is_read_out(count: int, together: str) -> None:
    told = said({"accepted": ("#000000", pd.DataFrame({"day": range(count)}))}, [])
    assert told == f"Sessions accepted by day{together}, this window and the one before. Flags turned: none"


def test_flags_that_were_turned_are_marked_on_the_days_and_told_in_words(address: str, owner: Owner) -> None:
    """In either window, with what each did; what was turned before both is not there."""
    sample.add_organization(owner, "org_a")
    add_sessions(owner, "org_a", 9, 3, 4)
    add_sessions(owner, "org_a", 4, 1, 2)
    turn_flag(owner, "absent", "true", days_ago=20)
    with health(address, org="org_a", window="7d") as test:
        assert marks(test) == []
        assert "Flags turned: none" in test.get("plotly_chart")[0].proto.alt
    turn_flag(owner, "true", "absent", days_ago=10)
    turn_flag(owner, "absent", "true", days_ago=3, flag="corroboration_boost_enabled")
    expected = [f"{NOW - 10 * DAY:%-d %b}: weighting on (default)", f"{NOW - 3 * DAY:%-d %b}: boost on"]
    with health(address, org="org_a", window="7d") as test:
        assert not test.exception
        assert marks(test) == expected
        assert [shape["x0"][:10] for shape in days(test)["layout"]["shapes"][1:]] == [
            f"{NOW - number * DAY:%Y-%m-%d}" for number in (10, 3)
        ]
        assert f"Flags turned: {'; '.join(expected)}" in test.get("plotly_chart")[0].proto.alt
        assert not [caption for caption in test.caption if "of flags in these days" in caption.value]
    for old, new, days_ago in (("absent", "true", 3), ("true", "absent", 2)):
        turn_flag(owner, old, new, days_ago=days_ago)
    with health(address, org="org_a", window="7d") as test:
        told = "4 changes of flags in these days; marked: 3, of those that held longest."
        assert marks(test) == [*expected, f"{NOW - 2 * DAY:%-d %b}: weighting on (default)"]
        assert told in [caption.value for caption in test.caption]
    with health(address, window="7d") as test:
        assert marks(test) == []
        told = "4 changes of flags in these days; marked where one organization is chosen."
        assert told in [caption.value for caption in test.caption]


def test_a_store_that_cannot_say_how_sessions_ended_loses_the_line_alone(address: str, owner: Owner) -> None:
    plant(owner, 7)
    owner.execute("alter table sessions drop column outcome")
    with health(address, org="org_a") as test:
        assert not test.exception
        assert line(test, "accepted") == []
        assert line(test, "log coverage")


class TestDip:
    """Thirty days and the thirty before; each of the days named has ten sessions."""

    def told(self, address: str, owner: Owner, fallen: tuple[int, ...], now: int) -> str:
        """With nine of ten accepted before but for days with one, and so many now."""
        sample.add_organization(owner, "org_a")
        for ago in range(30, 60, 2):
            add_sessions(owner, "org_a", ago, 1 if ago in fallen else 9, 10)
        for ago in range(0, 30, 2):
            add_sessions(owner, "org_a", ago, now, 10)
        with health(address, org="org_a") as test:
            assert not test.exception
            return next(each.value for each in test.markdown if "30 days before" in each.value)

    def test_what_is_better_than_a_week_of_the_window_before_alone_says_so(self, address: str, owner: Owner) -> None:
        """The week from 49 to 43 days ago has the three days that fell and no other; else nine of ten, as now."""
        told = self.told(address, owner, (44, 46, 48), 9)
        against = f"against a dip: 10 % in the 7 days up to {NOW - 43 * DAY:%-d %b}, 90 % without it."
        assert f"Better: sessions accepted 74 % → 90 %, {against}" in told

    def test_what_is_better_than_all_the_window_before_does_not(self, address: str, owner: Owner) -> None:
        told = self.told(address, owner, tuple(range(30, 60, 4)), 10)
        assert "Better: sessions accepted" in told
        assert "dip" not in told

    def test_what_is_not_better_does_not(self, address: str, owner: Owner) -> None:
        assert "dip" not in self.told(address, owner, (44, 46, 48), 5)

    def test_less_than_a_point_is_not_called_better(self, address: str, owner: Owner) -> None:
        """Of 100 000 sessions 50 % and then 50.9 %: no chance, and not worth a word in the figure either."""
        sample.add_organization(owner, "org_a")
        for ago, accepted in ((40, 50_000), (5, 50_900)):
            add_sessions(owner, "org_a", ago, accepted, 100_000)
        with health(address, org="org_a") as test:
            told = next(each.value for each in test.markdown if "30 days before" in each.value)
        assert " Sessions accepted 50 % → 50.9 %." in told
