"""A change of one of Feedback Impact's measures, as it is said beside the figure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from controls.impact.answers import Impact
from controls.impact.measures import measures

if TYPE_CHECKING:
    from collections.abc import Mapping


def against(now: Mapping[str, float], then: Mapping[str, float]) -> Impact:
    none = pd.DataFrame()
    totals, before = (pd.Series(each, dtype=float) for each in (now, then))
    return Impact(none, totals, before, 0, none, none, None, None, None, None, datetime(2026, 1, 1, tzinfo=UTC))


def change(name: str, now: Mapping[str, float], then: Mapping[str, float]) -> str | None:
    (measure,) = (each for each in measures(5) if each.name == name)
    return measure.change(against(now, then))


@pytest.mark.parametrize(
    ("now", "then", "said"),
    [
        (50_062, 50_000, "+0.1 pt"),  # 0.062
        (50_000, 50_062, "-0.1 pt"),
        (50_940, 50_000, "+0.9 pt"),
        (51_260, 50_000, "+1.3 pt"),
        (62_340, 50_000, "+12 pt"),
        (50_049, 50_000, "no change"),
    ],
)
def test_shares_change_by_points_with_no_digit_beyond_a_tenth_as_on_health(now: int, then: int, said: str) -> None:
    sums = [{"injected": part, "block_rows": 100_000} for part in (now, then)]
    assert change("rate", sums[0], sums[1]) == said


def test_what_is_no_share_changes_by_two_digits() -> None:
    assert change("overlap", {"overlap": 0.8123, "comparable": 1}, {"overlap": 0.8, "comparable": 1}) == "+0.012"
