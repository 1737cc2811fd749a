"""How figures are written."""

from __future__ import annotations

import pandas as pd
import pytest

from controls.messages import digits, moved, percent


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (0.123456, "0.123"), (999.4, "999"), (999.6, "1,000"), (12345.6, "12,346"), (None, "—"),
     (0.0000314159, "0.0000314"), (-2e-7, "-0.0000002")],
)  # fmt: skip
def test_three_digits_and_never_an_exponent(value: float | None, shown: str) -> None:
    assert digits(value) == shown


def test_one_of_millions_is_a_share_that_can_be_read() -> None:
    assert percent(3, 10_000_000) == "0.00003 %"


@pytest.mark.parametrize(("value", "shown"), [(-160.0, "-160"), (100.0, "+100"), (99.6, "+100"), (4.26, "+4.3")])
def test_a_change_has_two_and_its_sign(value: float, shown: str) -> None:
    assert digits(value, 2, signed=True) == shown


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [(5, 2, "▲3"), (2.0, 5.0, "▼3"), (4, 4, "="), (None, 1, "—"), (1, float("nan"), "—"), (pd.NA, 1, "—")],
)
def test_places_moved(before: object, after: object, shown: str) -> None:
    assert moved(before, after) == shown
