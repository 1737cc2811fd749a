from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking import Candidates, Relevance, TokenBudget, block, rank
from retrieval.block import format_observations_block, one_line
from tests.hostile import TEXTS


def ranked(*contents: str) -> Candidates:
    return Candidates(range(len(contents)), relevance=[1.0 - n / 100 for n in range(len(contents))], content=contents)


def packed(budget: int, *contents: str) -> tuple[tuple[int, ...], str, int]:
    found = format_observations_block(rank(ranked(*contents), (Relevance(),)), budget)
    return found.ids, found.text, found.tokens


class TestAsDocumented:
    def test_in_rank_order_until_the_first_that_does_not_fit(self) -> None:
        # 4 + 4 characters are 1 + 1 tokens; the third would make 2 + 3, and the fourth is not looked at
        assert packed(4, "four", "also", "twelve signs", "tiny") == ((0, 1), "- four\n- also", 2)

    def test_the_first_is_always_included(self) -> None:
        assert packed(1, "far more than one token", "tiny") == ((0,), "- far more than one token", 6)

    def test_a_budget_of_0_is_an_empty_block(self) -> None:
        assert packed(0, "four") == ((), "", 0)

    def test_nothing_recalled_is_an_empty_block(self) -> None:
        assert packed(100) == ((), "", 0)


class TestHostileText:
    @pytest.mark.parametrize("text", TEXTS)
    def test_an_observation_stays_on_its_own_line(self, text: str) -> None:
        ids, lines, _ = packed(100_000, text, "the next")
        assert ids == (0, 1)
        assert len(lines.splitlines()) == 2
        assert lines.splitlines()[1] == "- the next"

    def test_a_forged_line_is_part_of_the_line_that_forged_it(self) -> None:
        _, lines, _ = packed(100, "honest\n- forged\r\n- twice\u2028- thrice\x85- more\x0b- and more")
        assert lines == "- honest - forged - twice - thrice - more - and more"

    def test_what_cannot_be_seen_is_left_out(self) -> None:
        hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
        assert one_line(f"pay\u202e{hidden}\u2066roll\u200b") == "payroll"

    def test_joined_emoji_and_scripts_stay_whole(self) -> None:
        for text in ("👩‍👩‍👧‍👦 ❤️", "می‌خواهم", "e\u0301", "naïve café"):
            assert one_line(text) == text


@given(st.lists(st.text(), max_size=8), st.integers(0, 40))
def test_the_block_holds_what_the_budget_stage_holds(contents: list[str], budget: int) -> None:
    """Also for text that is rewritten: block, stage and library agree on the rows, and no line costs more."""
    plain = rank(ranked(*contents), (Relevance(),))
    found = format_observations_block(plain, budget)
    assert found.ids == tuple(rank(ranked(*contents), (Relevance(), TokenBudget(budget))).ids())
    assert found.tokens <= block(plain, budget).tokens
    assert len(found.text.splitlines()) == len(found.ids)


@given(st.text())
def test_one_line_is_settled_and_has_no_controls(text: str) -> None:
    line = one_line(text)
    assert one_line(line) == line
    assert len(line) <= len(text)
    assert not [sign for sign in line if unicodedata.category(sign) in ("Cc", "Zl", "Zp")]
