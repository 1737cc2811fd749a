import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking import (
    Candidates,
    Dedup,
    Relevance,
    TokenBudget,
    block,
    context_budget,
    dedup,
    estimate_tokens,
    normalize_content,
    rank,
)
from ranking.budget import fitting
from tests.ranking import strategies


class TestBudget:
    @given(st.lists(st.integers(0, 5), max_size=12), st.integers(0, 20))
    def test_in_rank_order_until_the_first_that_does_not_fit(self, tokens: list[int], budget: int) -> None:
        taken, spent = 0, 0
        for cost in tokens:
            spent += cost
            if spent > budget and taken:
                break
            if budget == 0:
                break
            taken += 1
            if spent > budget:
                break
        assert fitting(np.array(tokens, dtype=np.int64), budget) == taken

    def test_the_first_is_always_included_and_zero_is_empty(self) -> None:
        found = Candidates("ab", relevance=[0.9, 0.8], content=["x" * 4000, "y"])
        assert rank(found, (Relevance(), TokenBudget(10))).ids() == ["a"]
        assert rank(found, (Relevance(), TokenBudget(0))).ids() == []
        assert block(rank(found, (Relevance(),)), 0).text == ""

    def test_a_small_row_behind_one_that_does_not_fit_is_not_pulled_forward(self) -> None:
        found = Candidates("abc", relevance=[0.9, 0.8, 0.7], content=["x" * 8, "y" * 400, "z"])
        assert rank(found, (Relevance(), TokenBudget(10))).ids() == ["a"]

    def test_rows_beyond_the_first_look_are_reached(self) -> None:
        found = Candidates(range(1000), relevance=np.linspace(1, 0, 1000), content=["abcd"] * 1000)
        assert rank(found, (Relevance(), TokenBudget(300))).ids() == list(range(300))
        assert rank(found, (Relevance(), TokenBudget(5000))).ids() == list(range(1000))

    @given(strategies.candidates(), st.integers(0, 12))
    def test_stage_and_block_agree(self, found: Candidates, tokens: int) -> None:
        ranking = rank(found, (Relevance(),))
        packed = block(ranking, tokens)
        assert list(packed.ids) == rank(found, (Relevance(), TokenBudget(tokens))).ids()
        assert packed.tokens == sum(math.ceil(len(line.removeprefix("- ")) / 4) for line in packed.lines)

    def test_budgets_by_work_type(self) -> None:
        assert [context_budget(work) for work in ("bug_fix", "feature", "refactor", "chore", "x", None)] == [
            750, 400, 600, 300, 500, 500,
        ]  # fmt: skip

    @pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("日本語", 1)])
    def test_tokens(self, text: str, tokens: int) -> None:
        assert estimate_tokens([text]).tolist() == [tokens]

    def test_a_negative_budget_raises(self) -> None:
        with pytest.raises(ValueError, match="tokens: expected 0 or more, found -1"):
            TokenBudget(-1)


class TestDedup:
    @given(st.lists(st.sampled_from(["A b", "a  b", " a\tb ", "c", "C", ""]), max_size=10), st.integers(-1, 4))
    def test_keeps_the_first_of_each_normalised_content(self, contents: list[str], limit: int) -> None:
        seen: set[str] = set()
        plain: list[bool] = []
        for text in contents:
            key = re.sub(r"\s+", " ", text.lower()).strip()
            fits = limit <= 0 or sum(plain) < limit
            plain.append(key not in seen and fits)
            seen.add(key)
        assert dedup(contents, limit).tolist() == plain

    def test_the_better_ranked_copy_stays(self) -> None:
        found = Candidates("abc", relevance=[0.1, 0.9, 0.5], content=["The sky", "the  SKY ", "grass"])
        assert rank(found, (Relevance(), Dedup())).ids() == ["b", "c"]
        assert rank(found, (Relevance(), Dedup(limit=1))).ids() == ["b"]

    def test_lower_case_and_spaces_as_go_has_them(self) -> None:
        assert normalize_content("ΟΔΟΣ\u00a0İX") == "οδοσ ix"
        assert normalize_content("a\x1fb\u3000c") == "a\x1fb c"
