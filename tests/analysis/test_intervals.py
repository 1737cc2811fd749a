"""Intervals of shares: as published, never without width, and the same question answered alike on every page."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.health.change import is_chance
from analysis.impact import compare_outcomes
from analysis.intervals import FLOOR, Interval, newcombe, wilson
from analysis.replay.outcomes import switched
from tests.analysis.replay.switching import endings

sizes = st.integers(FLOOR, 400)


def impact(changed: tuple[int, int], kept: tuple[int, int]) -> Interval:
    """The difference as Feedback Impact has it."""
    counts: dict[tuple[bool, str | None], int] = {}
    for side, (accepted, judged) in ((True, changed), (False, kept)):
        counts |= {(side, "accepted"): accepted, (side, "rework"): judged - accepted}
    found = compare_outcomes(counts).accepted
    assert found is not None
    return found


def what_if(after: tuple[int, int], before: tuple[int, int]) -> tuple[float, float]:
    """The interval as What-if has it."""
    accepted = [place < part for part, whole in (before, after) for place in range(whole)]
    found = switched(endings([False] * before[1] + [True] * after[1], accepted), "Weighting").experiment
    assert found is not None
    return found.effect.low, found.effect.high


@pytest.mark.parametrize(
    ("now", "before", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_newcombes_own_examples(now: tuple[int, int], before: tuple[int, int], low: float, high: float) -> None:
    """Statistics in Medicine 17 (1998), table II, method 10."""
    found = newcombe(now, before)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


def test_thirty_of_thirty_against_twenty_six_is_chance_on_every_page() -> None:
    now, before = (30, 30), (26, 30)
    assert is_chance(now, before)
    assert impact(now, before).low < 0 < impact(now, before).high
    low, high = what_if(now, before)
    assert low < 0 < high


@settings(max_examples=50, deadline=None)
@given(whole=sizes, other=sizes, every=st.booleans(), share=st.floats(0, 1))
def test_where_all_or_none_were_accepted_the_pages_agree(whole: int, other: int, every: bool, share: float) -> None:  # noqa: FBT001 - drawn
    now, before = (whole if every else 0, whole), (round(share * other), other)
    expected = newcombe(now, before)
    assert impact(now, before) == expected
    assert what_if(now, before) == (expected.low, expected.high)
    found = impact(now, before)
    assert is_chance(now, before) == (found.low <= 0 <= found.high)
    assert found.low < found.high


@settings(max_examples=50, deadline=None)
@given(counts=st.tuples(*[st.integers(0, 200)] * 3).filter(lambda counts: sum(counts) >= FLOOR))
def test_no_share_is_known_without_doubt(counts: tuple[int, int, int]) -> None:
    found = compare_outcomes(
        dict(zip(((True, name) for name in ("accepted", "rework", "rejected")), counts, strict=True))
    )
    assert found.changed.shares is not None
    for count, each in zip(counts, found.changed.shares, strict=True):
        assert each.low < each.high
        assert each.low - 1e-9 <= each.value <= each.high + 1e-9
        if count in (0, sum(counts)):
            assert each == wilson(count, sum(counts))
