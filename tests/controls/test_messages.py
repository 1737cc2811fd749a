"""How figures are written."""

from __future__ import annotations

import pytest

from controls.messages import digits


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (0.123456, "0.123"), (999.4, "999"), (999.6, "1,000"), (12345.6, "12,346"), (None, "—")],
)  # fmt: skip
def test_three_digits_and_never_an_exponent(value: float | None, shown: str) -> None:
    assert digits(value) == shown


@pytest.mark.parametrize(("value", "shown"), [(-160.0, "-160"), (100.0, "+100"), (99.6, "+100"), (4.26, "+4.3")])
def test_a_change_has_two_and_its_sign(value: float, shown: str) -> None:
    assert digits(value, 2, signed=True) == shown
