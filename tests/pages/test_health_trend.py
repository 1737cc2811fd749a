"""Since when: Health's figures by day over both windows, and accepted sessions beside the flags that were turned."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests import sample
from tests.health_store import frames, inside, plant
from tests.pages.health_page import SCOPE, health
from tests.pages.test_health_fleet import add_sessions

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]


def line(test: AppTest, label: str) -> list[float]:
    return list(next(metric for metric in test.metric if metric.label == label).proto.chart_data)


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
        drawn = line(test, "Accepted")
    assert {place: value for place, value in enumerate(drawn) if not math.isnan(value)} == {4: 75, 9: 50, 13: 100}
    assert len(drawn) == 14


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
        "Accepted": (sessions, sessions["outcome"] == "accepted"),
        "Log coverage": (log, (log["best"] == log["size"] - 1) & (log["least"] == log["size"] - 1)),
    }
    with health(address, org="org_a") as test:
        drawn = {label: line(test, label) for label in parts}
    for label, (rows, good) in parts.items():
        days = [both + timedelta(days=number) for number in range(2 * SCOPE.days)]
        expected = [
            100 * float(good[(rows["created_at"] >= day) & (rows["created_at"] < day + timedelta(days=1))].mean())
            for day in days
        ]
        assert drawn[label] == pytest.approx(expected, nan_ok=True), label
        assert sum(not math.isnan(value) for value in expected) > len(inside(rows, SCOPE)) / len(rows)


def test_what_nobody_kept_by_day_has_no_line(address: str, owner: Owner) -> None:
    plant(owner, 7)
    with health(address, org="org_a") as test:
        assert [line(test, label) for label in ("Never retrieved", "Collapsed", "Aggregation age")] == [[], [], []]


def test_a_store_that_cannot_say_how_sessions_ended_loses_the_line_alone(address: str, owner: Owner) -> None:
    plant(owner, 7)
    owner.execute("alter table sessions drop column outcome")
    with health(address, org="org_a") as test:
        assert not test.exception
        assert line(test, "Accepted") == []
        assert line(test, "Log coverage")
