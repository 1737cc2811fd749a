"""A change in words agrees with the two values beside it."""

from __future__ import annotations

import pytest

from analysis.health.change import compare
from analysis.health.checks import judged
from controls.health.words import change, points, shown


@pytest.mark.parametrize(
    ("now", "before", "expected"),
    [(338, 369, "= under 0.05 pt"), (338, 338, "= no change"), (700_010, 700_000, "= no change")],
)
def test_values_whose_digits_differ_are_not_called_unchanged(now: int, before: int, expected: str) -> None:
    """Of a million each: 0.0338 % after 0.0369 %, the same, and 70 % after 70 %."""
    later, earlier = ({"stale": float(part), "kept": 1_000_000.0} for part in (now, before))
    found = next(each for each in compare(later, earlier) if each.measure.name == "stale")
    assert found.meaning == "same"
    assert (shown(found.measure, found.now) == shown(found.measure, found.before)) == (expected == "= no change")
    assert change(found) == expected


def test_of_what_is_no_share_the_difference_is_told_in_percent() -> None:
    """499 tokens after 500, which lie 0.04 % apart."""
    now, before = ({"tokens": tokens, "blocks": 10.0} for tokens in (4_994.0, 4_996.0))
    found = next(each for each in compare(now, before) if each.measure.name == "tokens")
    assert (shown(found.measure, found.before), shown(found.measure, found.now)) == ("500", "499")
    assert change(found) == "= under 0.05 %"


@pytest.mark.parametrize(
    ("change", "told"),
    [(0.059, "+0.1 pt"), (-0.94, "-0.9 pt"), (0.999, "+1.0 pt"), (-1.26, "-1.3 pt"), (11.4, "+11 pt")],
)
def test_points_have_two_digits_and_none_beyond_a_tenth(change: float, told: str) -> None:
    assert points(change) == told


def test_a_few_lost_of_millions_are_a_share_that_can_be_read() -> None:
    """3 retrievals dropped of 10 million, since the writer started."""
    (found,) = (each for each in judged({"dropped_or_failed": 3.0, "logged": 1e7}) if each.check.name == "drops")
    assert (found.band, shown(found.check, found.value)) == ("watch", "0.00003 %")


def test_of_what_is_no_share_a_large_change_has_all_its_digits_before_the_point() -> None:
    """1,650 tokens a block after 400."""
    now, before = ({"tokens": tokens, "blocks": 10.0} for tokens in (16_500.0, 4_000.0))
    found = next(each for each in compare(now, before) if each.measure.name == "tokens")
    assert change(found) == "▲ +1,250"
