import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking import (
    AI_MEMORY,
    FULL,
    MEMSENSE,
    Candidates,
    Corroboration,
    CrossEncoder,
    Feedback,
    Head,
    Mmr,
    Relevance,
    SessionRecency,
    Stage,
    TokenBudget,
    rank,
    why_above,
    why_not_returned,
)
from ranking.flips import stands_above
from tests.ranking import strategies
from tests.ranking.test_explanation import FOUND, RANKING, STAGES


def test_why_above() -> None:
    sentence = why_above(RANKING, "b", "c")
    assert sentence.startswith("b stands above c since Relevance: +0.8000 against +0.7000")
    assert why_above(RANKING, "c", "b").startswith("c does not stand above b: b stands above c")


def test_the_stage_that_turned_it_is_named() -> None:
    ranking = rank(FOUND, STAGES[:3])
    assert why_above(ranking, "c", "a").startswith("c stands above a since Feedback: +0.1400 against -0.4500")


def test_ties_say_so() -> None:
    tied = rank(Candidates("ab", relevance=[0.5, 0.5]), (Relevance(),))
    assert "equal scores; the order of recall decides" in why_above(tied, "a", "b")


def test_an_order_that_was_fixed_says_so() -> None:
    vectors = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    chosen = rank(Candidates("abc", relevance=[0.9, 0.8, 0.1], embeddings=vectors), (Relevance(), Mmr(k=3)))
    assert "since Mmr: that stage fixed the order" in why_above(chosen, "c", "b")


def test_rows_that_were_not_returned_or_not_ranked() -> None:
    assert why_above(RANKING, "b", "a") == "a was not returned: does not fit the budget of 40 tokens"
    assert "the pipeline has no stages" in why_above(rank(FOUND, ()), "a", "b")


def test_why_not_returned() -> None:
    assert why_not_returned(RANKING, "a") == (
        "a was dropped by TokenBudget from place 3: does not fit the budget of 40 tokens"
    )
    assert why_not_returned(RANKING, "c", k=1) == "c has place 2, beyond the best 1"
    assert why_not_returned(RANKING, "b", k=1) == "b was returned at place 1"
    assert "dropped by Head from place 3: not among the best 1" in why_not_returned(
        rank(FOUND, (Relevance(), Head(1))), "c"
    )


def test_a_stage_that_holds_rows_apart_against_their_scores_is_named() -> None:
    found = Candidates("ab", relevance=[0.9, 0.8], pair_score=[0.0, np.nan])
    ranking = rank(found, (Relevance(), CrossEncoder(pool=1)))
    assert why_above(ranking, "a", "b").startswith(
        "a stands above b since CrossEncoder: that stage fixed the order, whatever the scores"
    )


@pytest.mark.parametrize(("relevance", "pairs"), [([0.8, 0.9], [np.nan, 0.65]), ([0.9, 0.8], [0.65, np.nan])])
def test_candidate_order_is_not_named_where_a_stage_holds_equal_scores_apart(
    relevance: list[float], pairs: list[float]
) -> None:
    """0.6·0.9 + 0.4·0.65 = 0.8: the scores meet, the pool decides."""
    ranking = rank(Candidates("ab", relevance=relevance, pair_score=pairs), (Relevance(), CrossEncoder(pool=1)))
    assert ranking.scores.tolist() == [0.8, 0.8]
    upper, lower = ranking.ids()
    assert f"{upper} stands above {lower} since CrossEncoder: that stage fixed" in why_above(ranking, upper, lower)


def test_a_stage_that_only_keeps_the_order_it_found_is_not_named() -> None:
    tied = Candidates("ab", relevance=[0.5, 0.5], content=["x", "y"], shown_before=[False, True])
    budgeted = rank(tied, (Relevance(), TokenBudget(9)))
    assert "since Relevance: equal scores; the order of recall decides" in why_above(budgeted, "a", "b")
    overtaken = rank(tied, (Relevance(), TokenBudget(9), SessionRecency()))
    assert "a stands above b since TokenBudget: that stage fixed the order" in why_above(overtaken, "a", "b")


def test_an_order_that_was_fixed_says_so_even_if_later_scores_agree() -> None:
    vectors = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    found = Candidates("abc", relevance=[0.9, 0.8, 0.1], embeddings=vectors, shown_before=[False, False, True])
    chosen = rank(found, (Relevance(), Mmr(k=3), SessionRecency(boost=5.0)))
    assert "since Mmr: that stage fixed the order" in why_above(chosen, "c", "b")


def test_two_rows_that_were_dropped_are_compared_where_both_still_stood() -> None:
    ranking = rank(FOUND, (Relevance(), Head(1)))
    assert why_above(ranking, "b", "c").startswith(
        "neither was returned, Head dropped both (not among the best 1); before it, b stands above c since Relevance"
    )
    assert "before it, c does not stand above b: b stands above c" in why_above(ranking, "c", "b")
    assert why_above(rank(FOUND, (Head(1),)), "b", "c") == (
        "neither was returned, Head dropped both (not among the best 1); before it, no stage had ranked them"
    )


def test_of_two_rows_that_were_dropped_the_one_that_stayed_longer_stands_above() -> None:
    ranking = rank(FOUND, (Relevance(), Head(2), TokenBudget(0)))
    assert why_above(ranking, "b", "c") == (
        "neither was returned, b stands above c: Head dropped c (not among the best 2) and kept b, "
        "which TokenBudget dropped later"
    )
    assert why_above(ranking, "c", "b").startswith("c does not stand above b: neither was returned, b stands above c")


@given(strategies.candidates(min_size=2), st.sampled_from([FULL, MEMSENSE, AI_MEMORY, (Relevance(), Corroboration())]))
def test_who_stands_above_is_what_flips_say(found: Candidates, stages: tuple[Stage, ...]) -> None:
    ranking = rank(found, stages)
    returned = ranking.ids()
    sentence = why_above(ranking, 0, 1)
    if (0 in returned) == (1 in returned):
        assert ("0 does not stand above 1" not in sentence) == stands_above(ranking, 0, 1)


@given(strategies.candidates(min_size=2), st.integers(0, 4))
def test_candidate_order_and_deltas_are_named_only_where_they_hold(found: Candidates, pool: int) -> None:
    ranking = rank(found, (Relevance(), Feedback(), CrossEncoder(pool), SessionRecency(boost=0.25), TokenBudget(500)))
    score = dict(zip(found.ids[ranking.positions].tolist(), ranking.scores.tolist(), strict=True))
    upper, lower = ranking.ids()[:2]
    sentence = why_above(ranking, upper, lower)
    if "the order of recall decides" in sentence:
        assert score[upper] == score[lower]
        assert upper < lower
    elif " against " in sentence:
        assert score[upper] > score[lower]
    else:
        assert "that stage fixed the order" in sentence
