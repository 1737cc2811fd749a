"""Tenant text in a report: what is cut, marked and made visible."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.glyphs import BREAK, CLOSE, OPEN, on_a_line, printed
from reports.texts import digits, excerpt, unseen, visible
from tests.hostile import TEXTS


def shown(content: str, marked: list[tuple[int, int]], limit: int = 1_000) -> list[tuple[str, bool]]:
    return [(piece.text, piece.evidence) for piece in excerpt(content, marked, limit).pieces]


class TestExcerpt:
    def test_evidence_is_where_it_stands(self) -> None:
        assert shown("always on", [(0, 6)]) == [("always", True), (" on", False)]
        assert shown("is it on", [(6, 8), (0, 2)]) == [("is", True), (" it ", False), ("on", True)]

    def test_overlapping_evidence_is_marked_once_and_none_beyond_the_text(self) -> None:
        assert shown("abcdef", [(1, 3), (2, 4), (5, 99), (-4, 0), (3, 3)]) == [
            ("a", False), ("bcd", True), ("e", False), ("f", True),
        ]  # fmt: skip

    def test_what_is_cut_is_counted(self) -> None:
        found = excerpt("x" * 50, [(0, 2)], 10)
        assert (found.before, found.after, "".join(piece.text for piece in found.pieces)) == (0, 40, "x" * 10)

    def test_evidence_far_down_is_shown_all_the_same(self) -> None:
        found = excerpt("x" * 5_000 + "never" + "y" * 5_000, [(5_000, 5_005)], 1_000)
        assert (found.before, found.after) == (4_800, 10_005 - 4_800 - 1_000)
        assert ("never", True) in [tuple(piece) for piece in found.pieces]

    @given(st.text(max_size=40), st.lists(st.tuples(st.integers(-5, 50), st.integers(-5, 50)), max_size=4))
    def test_pieces_are_the_text(self, content: str, marked: list[tuple[int, int]]) -> None:
        found = excerpt(content, marked, 1_000)
        assert "".join(piece.text for piece in found.pieces) == content
        covered = {place for start, end in marked for place in range(max(start, 0), min(end, len(content)))}
        at = 0
        for piece in found.pieces:
            assert all((place in covered) == piece.evidence for place in range(at, at + len(piece.text)))
            at += len(piece.text)


@pytest.mark.parametrize(
    ("text", "seen"),
    [("a\0b", "a␀b"), ("\x1b[31m", "␛[31m"), ("a\r\nb\tc", "a␍\nb\tc"), ("\x85", "\ufffd"), ("ä中", "ä中")],
)
def test_controls_are_seen_and_keep_their_place(text: str, seen: str) -> None:
    assert visible(text) == seen
    assert len(visible(text)) == len(text)


def test_what_cannot_be_seen_is_named() -> None:
    assert unseen("plain ä 中 مرحبا") == ""
    assert "right-to-left override (U+202E) × 2" in unseen("\u202ea\u202e")
    assert unseen("".join(map(chr, range(0x2060, 0x2065))) + "\u200b\u200c\ufeff").endswith("and 2 others.")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain", "plain"),
        ("中文 é", f"{OPEN}U+4E2D U+6587{CLOSE} é"),
        ("a\0b\nc", f"a{OPEN}U+0000{CLOSE}b\nc"),
        ("⟦U+0041⟧", f"{OPEN}U+27E6{CLOSE}U+0041{OPEN}U+27E{BREAK}7{CLOSE}"),
        ("\ud800", f"{OPEN}U+D800{CLOSE}"),
        ("x" * 30, "x" * 20 + BREAK + "x" * 10),
    ],
)
def test_what_no_font_has_is_shown_by_its_number(text: str, seen: str) -> None:
    assert printed(text) == seen


@pytest.mark.parametrize("text", TEXTS)
def test_a_line_stays_a_line(text: str) -> None:
    assert "\n" not in on_a_line(text)


def test_numbers_have_three_digits_and_what_is_none_is_not_zero() -> None:
    assert [digits(value) for value in (0.0, 0.123456, 79.96, 1234.5, None, float("nan"))] == [
        "0", "0.123", "80", "1,234", "—", "—",
    ]  # fmt: skip
