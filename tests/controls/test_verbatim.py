"""A memory's own text is shown as it is stored, and what turns it unseen is named below."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest


def page(text: str) -> AppTest:
    def draw(text: str) -> None:
        from controls.verbatim import verbatim  # noqa: PLC0415 - the page is run from its source

        verbatim(text)

    return AppTest.from_function(draw, args=(text,)).run()


def test_what_turns_the_letters_is_named_and_still_copied() -> None:
    test = page("pay \u202e100\u202c or \u202e200")
    assert test.code[0].value == "pay \u202e100\u202c or \u202e200"
    (note,) = [line.value for line in test.caption]
    assert "right-to-left override (U+202E) × 2" in note
    assert "pop directional formatting (U+202C) × 1" in note


@pytest.mark.parametrize("text", ["plain", "مرحبا بالعالم", "👩\u200d👧", "⟦U+202E⟧"])
def test_of_other_texts_nothing_is_said(text: str) -> None:
    test = page(text)
    assert test.code[0].value == text
    assert not test.caption
