"""Every number that documents 002, 003 and 004 print, and where they contradict themselves or each other."""

import numpy as np
import pytest

from ranking import (
    MEMINI,
    MEMSENSE,
    Candidates,
    Composite,
    CrossEncoder,
    FallbackScorer,
    LexicalScorer,
    Mmr,
    Pair,
    ReciprocalRankFusion,
    Reflection,
    RegexAnchorExtractor,
    Relevance,
    ScorerUsed,
    SessionMemory,
    SessionRecency,
    Temporal,
    TimeAnchor,
    WordAnchorExtractor,
    batched,
    candidate_pool,
    composite_scores,
    dedup,
    embedding_matrix,
    final_score,
    fuse_scores,
    hamming,
    pair_scorer,
    rank,
    reciprocal_rank_fusion,
    redundancy_with,
    reflection_factor,
    rerank_temporal,
    route_pool,
    session_recency,
    simhash64,
    turn_support,
    two_leg_weights,
)


class TestAsDocumented002:
    def test_pools(self) -> None:
        """002, Step 1: max(max(top_k·4, 32)·2, 40) per route, max(top_k·4, 32) before MMR."""
        assert [(candidate_pool(k), route_pool(k)) for k in (4, 10)] == [(32, 64), (40, 80)]

    def test_the_forty_never_binds(self) -> None:
        """002: the inner maximum is at least 32, so twice it is at least 64; the 40 is a dead number."""
        assert min(route_pool(k) for k in range(200)) == 64

    def test_eight_routes_by_rank(self) -> None:
        """002, Step 2: Σ 1/(15 + rank); at most eight routes at rank 1 each."""
        assert MEMSENSE[0] == ReciprocalRankFusion(k=15, first_rank=1)
        assert reciprocal_rank_fusion([["a"]] * 8, 15, 1) == [("a", 8 / 16)]

    def test_the_final_score(self) -> None:
        """002, Step 3: rrf + 0.1·memory_score."""
        assert final_score(np.array([0.25]), np.array([0.5])).tolist() == [0.25 + 0.1 * 0.5]

    def test_turn_support(self) -> None:
        """002, Step 3: min(0.12, 0.6·best turn)."""
        assert turn_support(np.array([0.1, 0.2, 0.5])) == pytest.approx([0.06, 0.12, 0.12])

    def test_the_cap_binds_only_for_turns_that_lead_four_routes(self) -> None:
        """002: 0.12 is reached at a turn rrf of 0.2, three first places give 3/16 = 0.1875."""
        assert turn_support(np.array([3 / 16]))[0] < 0.12 <= turn_support(np.array([4 / 16]))[0]

    def test_redundancy(self) -> None:
        """002, Step 4: max(cosine, 0.35·Jaccard of tags)."""
        tags = [["a", "b"], ["a", "b"]]
        assert redundancy_with(embedding_matrix([[1, 0], [0, 1]]), tags)(0)[1] == pytest.approx(0.35)

    def test_defaults(self) -> None:
        """002, Step 4: λ 0.78, duplicate threshold 0.94."""
        assert Mmr() == Mmr(k=4, lam=0.78, duplicate_threshold=0.94)

    def test_timely_and_confident_are_promised_and_not_scored(self) -> None:
        """002 promises "timely" and "confident" results, and says that neither is in the live path."""
        assert not any(isinstance(stage, Composite | Temporal) for stage in MEMSENSE)

    def test_lambda_weighs_two_different_scales(self) -> None:
        """002: a final score ends at 8/16 + 0.1 = 0.6, a redundancy at 1; 0.78 favours relevance less than it says."""
        assert final_score(np.array([8 / 16]), np.array([1.0])).tolist() == [0.6]


class TestAsDocumented003:
    def test_constants(self) -> None:
        """003: fusion alpha 0.5, RRF k 5, boost 0.40, composite 0.80 / 0.05 / 0.15."""
        assert two_leg_weights() == (0.5, 1 - 0.5)
        assert MEMINI[0] == ReciprocalRankFusion(k=5.0, first_rank=0)
        assert Temporal().boost == 0.40
        assert Composite() == Composite(relevance=0.80, recency=0.05, importance=0.15)
        assert 0.80 + 0.05 + 0.15 == 1.0

    def test_why_not_sixty(self) -> None:
        """003: 2/(60+20) > 1/(60+0), while at 5 the single first place wins."""
        deep = [[f"{leg}{place}" for place in range(20)] + ["both"] for leg in "xy"]
        fused = {k: dict(reciprocal_rank_fusion([["first"], *deep], k, 0)) for k in (60, 5)}
        assert fused[60]["both"] == 2 / (60 + 20) > fused[60]["first"] == 1 / (60 + 0)
        assert fused[5]["both"] < fused[5]["first"]

    def test_five_is_called_the_low_end_of_two_to_five(self) -> None:
        """003: "5 is at the low end of the [2,5] plateau"; it is the high end."""
        assert max(2, 5) == MEMINI[0].k  # type: ignore[attr-defined]

    def test_best_is_one_and_worst_is_zero(self) -> None:
        """003, FuseScores: min-max per list; k ≤ 0 returns all, absent weights are 1, ties keep first-seen order."""
        assert fuse_scores([[("a", 9.0), ("b", 5.0), ("c", 1.0)]]) == [("a", 1.0), ("b", 0.5), ("c", 0.0)]
        assert [label for label, _ in fuse_scores([[("x", 1.0)], [("y", 1.0)]])] == ["x", "y"]

    def test_without_a_span_the_worst_is_one(self) -> None:
        """003: "the best is 1 and the worst 0"; in a list of equal scores the worst is the best, and all are 1."""
        assert fuse_scores([[("a", 7.0), ("b", 7.0)]]) == [("a", 1.0), ("b", 1.0)]

    def test_a_standout_does_not_outrank_every_row_that_is_middling_in_both(self) -> None:
        """003: "a leg's standout hit outranks one that is middling in both legs"; 0.6 in both passes 1 in one."""
        legs = [[("standout", 1.0), ("middling", 0.6), ("x", 0.0)], [("other", 1.0), ("middling", 0.6), ("y", 0.0)]]
        fused = dict(fuse_scores(legs, two_leg_weights(0.5)))
        assert fused["middling"] == pytest.approx(0.5 * 0.6 + 0.5 * 0.6)
        assert fused["middling"] > fused["standout"] == 0.5

    def test_the_boost_ramps_to_0_by_three_times_the_tolerance(self) -> None:
        """003: additive, on target 0.40, 0 from 3× the tolerance on."""
        scores = rerank_temporal(np.zeros(3), np.array([21.0, 31.0, 36.0]), TimeAnchor(21, 5))
        assert scores == pytest.approx([0.40, 0.20, 0.0])

    def test_a_boost_of_0_or_less_is_the_plain_composite(self) -> None:
        """003: "boost <= 0 also degrades to plain composite re-rank", as does a query without a time."""
        scores, ages = np.array([0.5, 0.4]), np.array([1.0, 21.0])
        for plain in (
            rerank_temporal(scores, ages, TimeAnchor(21, 5), 0.0),
            rerank_temporal(scores, ages, TimeAnchor(21, 5), -1.0),
            rerank_temporal(scores, ages, None),
        ):
            assert plain.tolist() == [0.5, 0.4]

    def test_the_composite_is_not_on_0_to_1_once_boosted(self) -> None:
        """003 calls it a bonus "on the [0,1] composite score"; the best row on date scores up to 1.40."""
        assert rerank_temporal(np.array([1.0]), np.array([21.0]), TimeAnchor(21, 5))[0] == pytest.approx(1.40)

    def test_its_own_example_names_no_time_to_its_own_extractor(self) -> None:
        """003 explains the boost with "what did I do three weeks ago"; its patterns know digits only."""
        assert RegexAnchorExtractor().anchor("what did I do three weeks ago") is None
        assert WordAnchorExtractor().anchor("what did I do three weeks ago") == TimeAnchor(21, 5)

    def test_not_only_marginally_less_similar_rows_are_passed(self) -> None:
        """003: a dated row can pass "a marginally-more-similar one"; added, it passes one of twice its relevance."""
        scores, ages = composite_scores(np.array([1.0, 0.51]), np.full(2, np.nan), np.zeros(2)), np.array([1.0, 21.0])
        assert np.argmax(rerank_temporal(scores, ages, TimeAnchor(21, 5))) == 1
        assert np.argmax(rerank_temporal(scores, ages, TimeAnchor(21, 5), mode="multiplicative")) == 0

    def test_deduplicated_by_id_yet_added_twice(self) -> None:
        """003, Fuse: "deduplicated by ID" is one row per id; an id twice in one list still adds twice."""
        assert reciprocal_rank_fusion([["a", "a"]], 5, 0) == [("a", 1 / 5 + 1 / 6)]

    def test_a_limit_of_0_is_no_cap(self) -> None:
        """003, Dedup: limit <= 0 means no cap."""
        assert dedup(["one", "two", "One"], 0).tolist() == [True, True, False]


class TestAsDocumented004:
    def test_reflections(self) -> None:
        """004: 1.2, and per_depth_factor = 1.0 + increment·depth, capped."""
        assert reflection_factor(np.array([True]), np.array([0]))[0] == 1.2
        assert Reflection() == Reflection(boost=1.2, per_depth=0.05, depth_cap=3)

    def test_a_reflection_as_good_as_its_sources_is_lifted_into_the_top_5(self) -> None:
        """004: with a base score equal to its source observations it "consistently lifts into the top-5"."""
        count = 20
        last = np.arange(count) == count - 1
        found = Candidates(
            range(count), relevance=[0.5] * count, is_reflection=last, reflection_depth=np.zeros(count, np.int64)
        )
        assert count - 1 in rank(found, (Relevance(), Reflection())).ids(5)

    def test_the_printed_depth_formula_has_no_cap_and_the_next_constant_gives_it_one(self) -> None:
        """004 prints 1.0 + per_depth_increment·reflection_depth under one constant and caps the depth under another."""
        assert reflection_factor(np.array([True]), np.array([100]))[0] == pytest.approx(1.2 * (1 + 0.05 * 3))

    def test_a_mediocre_reflection_does_pass_a_well_matched_observation(self) -> None:
        """004: "without dragging mediocre reflections above well-matched observations"; 1.38·0.6 is above 0.8."""
        found = Candidates("or", relevance=[0.8, 0.6], is_reflection=[False, True], reflection_depth=[0, 3])
        assert rank(found, (Relevance(), Reflection())).ids() == ["r", "o"]

    def test_session_recency(self) -> None:
        """004: +0.05 for what the session was shown, in a ring of 50."""
        assert SessionRecency().boost == 0.05
        assert session_recency(np.array([0.5]), np.array([True])) == pytest.approx([0.55])
        memory = SessionMemory()
        memory.record("s", range(51), now=0)
        assert len(memory.recent("s")) == 50

    def test_bounded_per_session_and_unbounded_in_sessions(self) -> None:
        """004: cost is "bounded at O(SESSIONS · 50)" and the map is "never reset"; ours forgets idle sessions."""
        memory = SessionMemory(idle_seconds=10)
        for second in range(100):
            memory.record(str(second), ["a"], now=second)
        assert len(memory) == 11

    def test_five_milliseconds(self) -> None:
        """004 calls 5 ms negligible for a single request, then spares a single request from it."""
        assert batched.MAX_WAIT_MS == 5

    def test_defaults_its_page_names_and_does_not_print(self) -> None:
        """004 names pool, cap, batch and concurrency; the values are the vectors'."""
        assert CrossEncoder() == CrossEncoder(pool=20, original=0.6)
        assert (pair_scorer.DEFAULT_SEQUENCE, pair_scorer.MAX_SEQUENCE) == (256, 512)
        assert (batched.MAX_BATCH, batched.MIN_IN_FLIGHT) == (32, 2)

    def test_the_default_scorer_needs_no_weights(self) -> None:
        """004: lexical by default; the neural one is ms-marco-MiniLM-L-6-v2, "~80 MB".

        The package at hand carries L-12 of the same family; either is an adapter outside this library, and where it
        is missing the lexical scores say that they stand in.
        """
        assert not LexicalScorer().neural
        scored = FallbackScorer(None).score([Pair("rust", "rust", "crate")])
        assert scored.scorer_used is ScorerUsed.DEGRADED_LEXICAL


class TestAgainstEachOther:
    def test_two_fusions_of_one_name(self) -> None:
        """002 counts ranks from 1 with k 15, 003 from 0 with k 5: the same lists, other scores and another order."""
        legs = [["a", "x", "y"], ["z", "b"], ["w", "b"]]
        memsense = [label for label, _ in reciprocal_rank_fusion(legs, 15, 1)]
        memini = [label for label, _ in reciprocal_rank_fusion(legs, 5, 0)]
        assert memsense[0] == memini[0] == "b"
        assert reciprocal_rank_fusion(legs, 15, 1)[0][1] == 2 / 17
        assert reciprocal_rank_fusion(legs, 5, 0)[0][1] == 2 / 6

    def test_three_meanings_of_duplicate(self) -> None:
        """000: 3 bits of SimHash; 002: cosine 0.94; 003: the same normalised text. One pair, three answers."""
        texts = ["use async/await for database calls", "Use async await for database calls."]
        assert hamming(*simhash64(texts)) == 0
        assert dedup(texts).tolist() == [True, True]
        assert redundancy_with(embedding_matrix([[1, 0], [0.9, 0.44]]), None)(0)[1] < 0.94

    def test_two_opinions_on_recency(self) -> None:
        """002 took time out of its score; 003 keeps 0.05 for it; 004 rewards what the session just saw."""
        assert not any(isinstance(stage, Composite | SessionRecency) for stage in MEMSENSE)
        assert Composite().recency == SessionRecency().boost == 0.05
