"""Whether outcomes moved before a switch is told of two halves with enough sessions each, or not at all."""

from __future__ import annotations

import pytest

from analysis.intervals import FLOOR
from analysis.replay.outcomes import NaturalExperiment, switched
from tests.analysis.replay.switching import DAY, endings


def experiment(first: int, second: int, accepted: list[bool]) -> NaturalExperiment:
    """So many sessions in each half of 90 days before a switch, and 40 after it, all accepted."""
    before = list(range(first)) + [90 * DAY - place for place in reversed(range(second))]
    after = [(100 + place) * DAY for place in range(40)]
    found = switched(
        endings([False] * len(before) + [True] * 40, accepted + [True] * 40, at=before + after), "Weighting"
    ).experiment
    assert found is not None
    return found


@pytest.mark.parametrize(("first", "second"), [(1, 39), (2, 38), (FLOOR - 1, 90), (90, FLOOR - 1)])
def test_of_too_few_no_trend_is_told(first: int, second: int) -> None:
    found = experiment(first, second, [True] * first + [place % 2 == 0 for place in range(second)])
    assert found.before_it is None
    assert found.halves == (first, second)
    assert found.effect.earlier.sessions == first + second


def test_sessions_of_one_moment_have_no_halves() -> None:
    on = [False] * 40 + [True] * 40
    found = switched(endings(on, on, at=[0] * 40 + [(1 + place) * DAY for place in range(40)]), "Weighting").experiment
    assert found is not None
    assert (found.halves, found.before_it) == ((40, 0), None)


def test_of_enough_it_is() -> None:
    found = experiment(FLOOR, FLOOR, [True] * FLOOR + [False] * FLOOR)
    assert found.before_it is not None
    assert found.before_it.difference == -1
    assert found.before_it.high < 0
