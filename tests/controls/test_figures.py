"""A figure's arrow: only where something moved."""

from __future__ import annotations

import pytest

from controls.figures import Figure


@pytest.mark.parametrize(
    ("beside", "moved"),
    [
        ("+3 new", True), ("-4.8 pt", True), ("−0.05 pt", True), ("+1,200 %", True),
        ("+0 new", False), ("-0.0 pt", False), ("no change", False), ("none new", False), ("≈ -4.8 pt, unclear", False),
        (None, False),
    ],
)  # fmt: skip
def test_what_stands_beside_is_a_change_where_it_begins_with_a_sign_and_is_not_zero(
    beside: str | None, *, moved: bool
) -> None:
    assert Figure("label", "value", beside).moved is moved
