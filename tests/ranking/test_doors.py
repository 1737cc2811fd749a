"""What the library refuses at its doors, and what it takes although it looks odd."""

import math
from collections.abc import Callable
from uuid import UUID

import numpy as np
import pytest

import ranking
from ranking import (
    Candidates,
    Corroboration,
    CrossEncoder,
    Dedup,
    Feedback,
    Head,
    MissingEvidence,
    Mmr,
    PipelineError,
    ReciprocalRankFusion,
    Reflection,
    Relevance,
    SessionMemory,
    Temporal,
    TokenBudget,
    candidates_from_legs,
    corroboration_boost,
    dedup,
    estimate_tokens,
    final_score,
    from_text,
    fuse_scores,
    judge,
    kendall_tau_b,
    mean_absolute_delta,
    memory_scores,
    near_pairs,
    rank,
    rank_delta,
    reciprocal_rank_fusion,
    simhash64,
    update_weight,
)

ODD_IDS = ["a", 1, ("t", 2), None, UUID(int=3), "1", 2**70]


class TestIds:
    def test_any_hashable_is_fused(self) -> None:
        fused = reciprocal_rank_fusion([ODD_IDS, ODD_IDS[::-1]], 5, 0)
        assert {label for label, _ in fused} == set(ODD_IDS)
        assert dict(fused)[None] == 1 / (5 + 3) + 1 / (5 + 3)
        assert fuse_scores([[(label, 1.0) for label in ODD_IDS]]) == [(label, 1.0) for label in ODD_IDS]

    def test_any_hashable_comes_from_legs(self) -> None:
        found = candidates_from_legs({"x": [(label, 0.5) for label in ODD_IDS]})
        assert found.ids.tolist() == ODD_IDS
        assert found["leg_ranks"][:, 0].tolist() == list(range(len(ODD_IDS)))
        assert len(candidates_from_legs({"x": []})) == 0

    def test_any_hashable_is_remembered(self) -> None:
        memory = SessionMemory()
        memory.record("s", ODD_IDS[:4], now=0)
        assert memory.shown_before("s", Candidates(ODD_IDS).ids).tolist() == [True] * 4 + [False] * 3
        assert memory.shown_before("s", ["a", 7]).tolist() == [True, False]

    def test_a_session_is_recorded_at_a_time(self) -> None:
        with pytest.raises(TypeError, match="now"):
            SessionMemory().record("s", ["a"])  # type: ignore[call-arg]


class TestFingerprints:
    def test_a_list_of_whole_numbers_is_read_exactly(self) -> None:
        left, right = near_pairs([2**64 - 1, 2**64 - 2, 0, 1], 1)
        assert list(zip(left.tolist(), right.tolist(), strict=True)) == [(0, 1), (2, 3)]

    @pytest.mark.parametrize("hashes", [[-1], [2**64], [1.5], ["a"], [[1]], [True, None]])
    def test_anything_else_is_refused(self, hashes: list[object]) -> None:
        with pytest.raises(ValueError, match="hashes: expected one row of unsigned integers"):
            near_pairs(hashes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "call",
    [
        lambda: simhash64("hello world"),
        lambda: estimate_tokens("abcdefgh"),
        lambda: dedup("aab"),
        lambda: Candidates(["a", "b", "c"], content="abc"),
        lambda: Candidates(["a", "b", "c"], session="abc"),
    ],
)
def test_a_lone_text_is_not_a_list_of_letters(call: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match="expected a list of texts, found one text"):
        call()


class TestNumbers:
    @pytest.mark.parametrize("value", [math.inf, math.nan, -1.0])
    def test_a_scale_is_finite(self, value: float) -> None:
        with pytest.raises(ValueError, match="scale: expected"):
            Corroboration(value)
        with pytest.raises(ValueError, match="scale: expected"):
            corroboration_boost([0, 1], value)

    @pytest.mark.parametrize("k", [math.nan, math.inf])
    def test_damping_is_finite(self, k: float) -> None:
        with pytest.raises(ValueError, match="k: expected a finite number"):
            reciprocal_rank_fusion([["a"]], k)
        with pytest.raises(ValueError, match="k: expected a finite number"):
            ReciprocalRankFusion(k)

    def test_a_span_beyond_the_largest_float_is_still_a_span(self) -> None:
        assert fuse_scores([[("a", 1e308), ("b", 0.0), ("c", -1e308)]]) == [("a", 1.0), ("b", 0.5), ("c", 0.0)]

    def test_a_weight_is_finite(self) -> None:
        with pytest.raises(ValueError, match="weight: expected a finite number, found nan"):
            update_weight(math.nan, "accepted")

    def test_six_digits_of_large_scores(self) -> None:
        large = np.array([1e30, 1e22, 1e305, -1e30, 123456789.1234566])
        assert final_score(large, np.zeros(5)).tolist() == [1e30, 1e22, 1e305, -1e30, 123456789.123457]

    @pytest.mark.parametrize(
        ("text", "score"), [("infinity", 0.5), ("INFINITY", 0.5), ("Infinity", 1.0), ("1E-1", 0.1), ("-Infinity", 0.0)]
    )
    def test_javascript_knows_one_spelling_of_infinity(self, text: str, score: float) -> None:
        assert memory_scores([text]).tolist() == [score]


class TestComparisons:
    def test_columns_of_unequal_length_are_not_stretched(self) -> None:
        for measure in (rank_delta, mean_absolute_delta):
            with pytest.raises(ValueError, match="ranks: expected equal lengths, found 3 and 1"):
                measure(np.array([0, 1, 2]), np.array([1]))

    def test_a_row_counts_once(self) -> None:
        with pytest.raises(ValueError, match="ranking: expected every id once, found one twice"):
            judge(["a", "a"], {"a": 1}, 2)

    def test_nan_has_no_order(self) -> None:
        with pytest.raises(ValueError, match="columns: expected numbers, found nan"):
            kendall_tau_b([1, 2, math.nan], [1, 2, 3])


class TestStages:
    @pytest.mark.parametrize(
        ("make", "field"),
        [(Head, "k"), (Mmr, "k"), (CrossEncoder, "pool"), (TokenBudget, "tokens"), (Dedup, "limit")],
    )
    @pytest.mark.parametrize("value", [2.5, math.inf, True])
    def test_counts_are_whole(self, make: Callable[[object], object], field: str, value: object) -> None:
        with pytest.raises(ValueError, match=f"{field}: expected a whole number, found {value}"):
            make(value)

    def test_other_counts_are_whole(self) -> None:
        with pytest.raises(ValueError, match="depth_cap: expected a whole number"):
            Reflection(depth_cap=1.5)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="first_rank: expected a whole number"):
            ReciprocalRankFusion(first_rank=1.0)  # type: ignore[arg-type]

    def test_options_are_known(self) -> None:
        with pytest.raises(ValueError, match="mode: expected additive, multiplicative, found 'x'"):
            Temporal(mode="x")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="normalise: expected none, minmax, found 'x'"):
            Feedback(normalise="x")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="mode: expected off, absolute, relative_to_top, found 'x'"):
            ranking.Floor(mode="x")  # type: ignore[arg-type]

    def test_mmr_names_what_is_there_instead(self) -> None:
        with pytest.raises(MissingEvidence, match="no column 'embeddings' or 'tags'; candidates carry relevance"):
            rank(Candidates(["a"], relevance=[1.0]), (Relevance(), Mmr()))


class TestPipelineTexts:
    @pytest.mark.parametrize(
        "number", ["-" + "9" * 400, "9" * 5000, "1_0", "\uff17", " 7", "7 ", "+7", "", "1e3", "2.5", "nan"]
    )
    def test_a_count_is_plain_digits(self, number: str) -> None:
        with pytest.raises(PipelineError, match=r"stage 1, Head.k: expected int, found"):
            from_text(f"Head~k~{number}")

    @pytest.mark.parametrize("number", ["1_0.0", "\uff17", " 7", "inf", "nan", "Infinity", "1e999", "-1", ""])
    def test_a_number_is_plain_and_finite(self, number: str) -> None:
        with pytest.raises(PipelineError, match="stage 1, Corroboration"):
            from_text(f"Corroboration~scale~{number}")

    @pytest.mark.parametrize("value", [1e22, 1e-7, 0.1, 3.0, 5e-324])
    def test_every_number_written_is_read(self, value: float) -> None:
        assert from_text(ranking.to_text((Corroboration(value),))) == (Corroboration(value),)

    def test_only_a_text_is_read(self) -> None:
        with pytest.raises(PipelineError, match="pipeline: expected a text, found None"):
            from_text(None)  # type: ignore[arg-type]

    def test_a_stage_without_fields_says_so(self) -> None:
        with pytest.raises(PipelineError, match="stage 1, Relevance: expected no field, found 'k'"):
            from_text("Relevance~k~1")


class TestDecided:
    def test_two_texts_without_tokens_are_0_bits_apart_and_no_cluster(self) -> None:
        one, other = simhash64(["", "?!"])
        assert int(ranking.hamming(one, other)) == 0
        assert len(ranking.cluster_near_duplicates(["", "?!"]).canonical) == 0

    def test_a_character_is_a_code_point_in_a_list_and_in_a_column(self) -> None:
        texts = ["\U0001f600" * 4, "é" * 5, ""]
        column = Candidates(range(3), content=texts).texts("content")
        assert estimate_tokens(texts).tolist() == estimate_tokens(column).tolist() == [1, 2, 0]
