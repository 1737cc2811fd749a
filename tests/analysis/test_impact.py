"""The comparison of outcomes: shares by hand, intervals against drawing sessions one by one, and a floor."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.impact import OUTCOMES, compare_outcomes
from analysis.intervals import FLOOR


def test_shares_are_of_sessions_with_an_outcome() -> None:
    found = compare_outcomes(
        {(True, "accepted"): 30, (True, "rework"): 6, (True, "rejected"): 4, (True, None): 9, (False, "accepted"): 50}
    )
    assert found.changed.shares is not None
    assert [each.value for each in found.changed.shares] == [30 / 40, 6 / 40, 4 / 40]
    assert (found.changed.judged, found.changed.open_sessions, found.kept.judged) == (40, 9, 50)
    assert found.accepted is not None
    assert found.accepted.value == pytest.approx(30 / 40 - 1)


def test_sessions_of_an_unknown_outcome_are_in_no_share() -> None:
    found = compare_outcomes({(True, "accepted"): 30, (True, "abandoned"): 6, (True, "lost"): 1, (False, None): 2})
    assert found.changed.shares is not None
    assert found.changed.shares[0].value == 1
    assert (found.changed.judged, found.changed.unknown_outcome, found.kept.unknown_outcome) == (30, 7, 0)


def test_the_interval_is_that_of_drawing_sessions_again() -> None:
    counts = {"accepted": 120, "rework": 50, "rejected": 30}
    found = compare_outcomes({(True, name): count for name, count in counts.items()})
    sessions = np.repeat([name == "accepted" for name in OUTCOMES], [counts[name] for name in OUTCOMES])
    draw = np.random.default_rng(5)
    slowly = np.array([draw.choice(sessions, len(sessions)).mean() for _ in range(3000)])
    assert found.changed.shares is not None
    accepted = found.changed.shares[0]
    low, high = np.percentile(slowly, [2.5, 97.5])
    assert accepted.low == pytest.approx(low, abs=0.012)
    assert accepted.high == pytest.approx(high, abs=0.012)
    assert accepted.low < accepted.value < accepted.high


def test_below_the_floor_nothing_is_estimated() -> None:
    counts: dict[tuple[bool, str | None], int] = {(True, "accepted"): FLOOR - 1, (False, "accepted"): FLOOR}
    found = compare_outcomes(counts)
    assert found.changed.shares is None
    assert found.kept.shares is not None
    assert found.accepted is None
    assert compare_outcomes({}).kept.judged == 0


def test_the_same_counts_give_the_same_interval() -> None:
    counts: dict[tuple[bool, str | None], int] = {(True, "accepted"): 40, (True, "rework"): 9, (False, "accepted"): 35}
    assert compare_outcomes(counts) == compare_outcomes(counts)
