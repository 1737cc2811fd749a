"""The formula beside a candidate: all digits, and a word where it does not add up."""

from __future__ import annotations

from typing import Any

import pytest

from controls.impact.retrieval import formula


def row(**changed: Any) -> dict[Any, object]:  # noqa: ANN401 - any column
    usual = {"relevance": 0.8, "boost": None, "weight": 0.85, "weighted": 0.8 * 0.85, "weighting_enabled": True}
    return usual | changed


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "0.8 × 0.85 = 0.68"),
        ({"boost": 0.1, "weighted": 0.9 * 0.85}, "(0.8 + 0.1) × 0.85 = 0.765"),
        ({"weighting_enabled": False, "weighted": 0.8}, "0.8 = 0.8 (weighting off; weight 0.85)"),
        ({"weighted": 0.5}, "0.8 × 0.85 = 0.5 (the formula gives 0.68: other stages scored before feedback)"),
        ({"weight": None}, "0.8 × — = 0.68 (not a number)"),
        ({"relevance": float("nan")}, "— × 0.85 = 0.68 (not a number)"),
        ({"weighted": float("inf")}, "0.8 × 0.85 = — (not a number)"),
    ],
)
def test_the_formula_says_where_it_does_not_hold(changed: dict[str, Any], expected: str) -> None:
    assert formula(row(**changed)) == expected
