"""Advice that fits the case: lost rows are not writing twice, and a page that compares nothing is no way."""

from __future__ import annotations

import pytest

from analysis.health.advice import ROWS_LOST, UNWEIGHTED, todo
from analysis.health.change import SERVICES
from analysis.health.checks import CHECKS

MEASURES = {measure.name: measure for measure in (*SERVICES, *CHECKS)}
LOGGED = {"retrievals": 439.0, "complete": 413.0, "sound": 413.0}


def test_where_all_that_fails_integrity_fails_coverage_rows_were_lost() -> None:
    assert todo(MEASURES["integrity"], LOGGED) == ROWS_LOST


@pytest.mark.parametrize(
    "counts",
    [
        LOGGED | {"sound": 412.0},
        LOGGED | {"complete": 439.0},
        {"retrievals": 439.0, "sound": 413.0},
        {},
        dict.fromkeys(LOGGED, 439.0),
    ],
    ids=["some logged twice", "all logged twice", "coverage unknown", "nothing known", "nothing wrong"],
)
def test_where_another_reason_is_left_the_general_words_stay(counts: dict[str, float]) -> None:
    assert todo(MEASURES["integrity"], counts) == MEASURES["integrity"].todo


def test_estimates_of_the_same_retrievals_count_as_the_same() -> None:
    drawn = {"retrievals": 1.0e6, "complete": 9.1e5, "sound": 9.1e5 * (1 - 1e-15)}
    assert todo(MEASURES["integrity"], drawn) == ROWS_LOST


def test_where_weighting_is_off_nobody_is_sent_to_compare_it() -> None:
    assert todo(MEASURES["accepted"], {}, weighted=False) == UNWEIGHTED
    assert todo(MEASURES["accepted"], {}) == MEASURES["accepted"].todo


def test_every_other_measure_keeps_its_own_words() -> None:
    others = [measure for name, measure in MEASURES.items() if name not in ("accepted", "integrity")]
    assert all(todo(measure, LOGGED, weighted=False) == measure.todo for measure in others)
