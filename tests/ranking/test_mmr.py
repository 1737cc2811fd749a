import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking import (
    Candidates,
    MissingEvidence,
    Mmr,
    Relevance,
    candidate_pool,
    embedding_matrix,
    mmr,
    rank,
    redundancy_with,
    route_pool,
)
from tests.ranking import strategies

VECTORS: tuple[Sequence[float] | str | None, ...] = (
    (1.0, 0.0),
    (0.0, 1.0),
    (1.0, 1.0),
    (1.0, 0.01),
    (0.0, 0.0),
    (1.0,),
    None,
)
TAGS = ((), ("x",), ("X ", "y"), ("x", "y", "y"), ("", " "))

rows = st.lists(
    st.tuples(st.sampled_from([0.1, 0.2, 0.3]), st.sampled_from(VECTORS), st.sampled_from(TAGS)), max_size=10
).map(lambda drawn: sorted(drawn, key=lambda row: -row[0]))


def plain_redundancy(first: tuple[object, ...], second: tuple[object, ...]) -> float:
    """The oracle: the rule, pair by pair."""
    (_, a, tags_a), (_, b, tags_b) = first, second
    cosine = 0.0
    if a and b and len(a) == len(b):  # type: ignore[arg-type]
        dot = sum(x * y for x, y in zip(a, b, strict=True))  # type: ignore[call-overload]
        size = math.hypot(*a) * math.hypot(*b)  # type: ignore[misc]
        cosine = min(1.0, max(0.0, dot / size)) if size else 0.0
    mine, theirs = ({tag.strip().lower() for tag in tags} - {""} for tags in (tags_a, tags_b))  # type: ignore[attr-defined]
    jaccard = len(mine & theirs) / len(mine | theirs) if mine and theirs else 0.0
    return max(cosine, 0.35 * jaccard)


def check_choice(
    drawn: list[tuple[float, object, object]], chosen: list[int], lam: float, threshold: float
) -> list[bool]:
    """The oracle: recompute all values at every pick; it must be the best, or the best ranked duplicate."""
    ruled = [False]
    for place in range(1, len(chosen)):
        before = [drawn[row] for row in chosen[:place]]
        left = [row for row in range(len(drawn)) if row not in chosen[:place]]
        near = {row: max(plain_redundancy(drawn[row], other) for other in before) for row in left}
        value = {row: lam * drawn[row][0] - (1 - lam) * near[row] for row in left if near[row] < threshold}
        ruled.append(bool(value))
        if value:
            assert value[chosen[place]] >= max(value.values()) - 1e-12
        else:
            assert chosen[place] == left[0]
    return ruled[: len(chosen)]


def columns(drawn: list[tuple[float, object, object]]) -> tuple[np.ndarray, np.ndarray, list[object]]:
    tags = [row[2] for row in drawn]
    return np.array([row[0] for row in drawn]), embedding_matrix([row[1] for row in drawn]), tags  # type: ignore[misc]


@given(rows)
def test_redundancy_is_the_plain_rule(drawn: list[tuple[float, object, object]]) -> None:
    _, vectors, tags = columns(drawn)
    redundancy = redundancy_with(vectors, tags)
    for row in range(len(drawn)):
        assert redundancy(row) == pytest.approx([plain_redundancy(drawn[row], other) for other in drawn])


@given(rows, st.integers(0, 12), st.sampled_from([0.0, 0.3, 0.78, 1.0]), st.sampled_from([0.3, 0.94, 1.5]))
def test_selection_is_the_plain_rule(
    drawn: list[tuple[float, object, object]], k: int, lam: float, threshold: float
) -> None:
    scores, vectors, tags = columns(drawn)
    found = mmr(scores, redundancy_with(vectors, tags), k, lam, threshold)
    assert len(found.rows) == min(k, len(drawn))
    assert found.rows[:1].tolist() == [0][: len(found.rows)]
    assert found.by_rule.tolist() == check_choice(drawn, found.rows.tolist(), lam, threshold)


def test_equal_rows_are_chosen_in_rank_order() -> None:
    found = mmr(np.full(5, 0.5), redundancy_with(np.eye(5), None), 5)
    assert found.rows.tolist() == [0, 1, 2, 3, 4]


@given(strategies.some_scores)
def test_with_lambda_one_and_no_duplicates_it_is_the_ranking(scores: np.ndarray) -> None:
    found = Candidates(range(scores.size), relevance=scores, embeddings=np.eye(scores.size))
    ranking = rank(found, (Relevance(), Mmr(k=scores.size, lam=1.0)))
    assert ranking.ids() == rank(found, (Relevance(),)).ids()


@given(strategies.candidates(min_size=1), st.integers(0, 12))
def test_rows_are_chosen_once_and_the_best_is_first(found: Candidates, k: int) -> None:
    ranking = rank(found, (Relevance(), Mmr(k=k)))
    chosen = ranking.ids()
    assert len(chosen) == len(set(chosen)) == min(k, len(found))
    assert chosen[:1] == rank(found, (Relevance(),)).ids(1)[: len(chosen)]


def test_duplicates_are_deferred_never_dropped() -> None:
    vectors = [[1, 0], [1, 0.001], [1, 0.002], [0, 1]]
    found = Candidates(["a", "a2", "a3", "b"], relevance=[0.25, 0.24, 0.23, 0.06], embeddings=np.array(vectors))
    assert rank(found, (Relevance(), Mmr(k=4))).ids() == ["a", "b", "a2", "a3"]


def test_vectors_may_come_as_text_and_of_other_lengths() -> None:
    redundancy = redundancy_with(embedding_matrix(["[1,0]", [1, 0], [1, 0, 0], None, "[]", " 1 , 0 "]), None)
    assert redundancy(0) == pytest.approx([1, 1, 0, 0, 0, 1])


def test_pools() -> None:
    assert [(candidate_pool(k), route_pool(k)) for k in (1, 4, 8, 10)] == [(32, 64), (32, 64), (32, 64), (40, 80)]


@pytest.mark.parametrize("lam", [-0.01, 1.01, math.nan])
def test_lambda_outside_its_range_raises(lam: float) -> None:
    with pytest.raises(ValueError, match="lam: expected 0 to 1"):
        Mmr(lam=lam)
    with pytest.raises(ValueError, match="lambda: expected 0 to 1"):
        mmr(np.array([1.0]), lambda _: np.array([0.0]), 1, lam)


def test_redundancy_needs_evidence() -> None:
    with pytest.raises(MissingEvidence, match="no column 'embeddings' or 'tags'"):
        rank(Candidates("a", relevance=[1.0]), (Relevance(), Mmr()))
    with pytest.raises(ValueError, match="expected embeddings or tags, found neither"):
        redundancy_with(None, None)
