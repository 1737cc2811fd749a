import numpy as np
import pytest

from ranking import (
    Candidates,
    Composite,
    Corroboration,
    CrossEncoder,
    Dedup,
    Feedback,
    Floor,
    FloorMode,
    MemoryScore,
    Normalise,
    ReciprocalRankFusion,
    Reflection,
    Relevance,
    ScoreFusion,
    Stage,
    Temporal,
    TemporalMode,
    TokenBudget,
    explain,
    rank,
)


def said(found: Candidates, stage: Stage) -> dict[object, str]:
    """What the stage, run after relevance, says about each row."""
    rows = explain(rank(found, (Relevance(), stage)), ids=found.ids.tolist()).rows
    return {row.id: row.effects[1].sentence for row in rows}


@pytest.mark.parametrize(
    ("stage", "sentence"),
    [
        (Feedback(), "multiplied by feedback weight 0.500: 0.9000 × 0.500 = 0.4500"),
        (Feedback(enabled=False), "feedback weighting is off: weight 0.500 changes nothing"),
        (
            Feedback(normalise=Normalise.MINMAX),
            "scaled to 0–1 among these rows, then multiplied by feedback weight 0.500: 1.0000 × 0.500 = 0.5000",
        ),
    ],
)
def test_feedback(stage: Feedback, sentence: str) -> None:
    assert said(Candidates("ab", relevance=[0.9, 0.8], weight=[0.5, 1.0]), stage)["a"] == sentence


def test_cross_encoder_tells_the_pool_from_the_tail() -> None:
    found = Candidates("abc", relevance=[0.7, 0.9, 0.8], pair_score=[np.nan, 0.5, 0.25])
    assert said(found, CrossEncoder(pool=2)) == {
        "a": "not in the pool of 2: keeps its score and its place below",
        "b": "0.6·0.9000 + 0.4·0.5000 pair score = 0.7400",
        "c": "0.6·0.8000 + 0.4·0.2500 pair score = 0.5800",
    }


def test_budget_names_the_first_that_does_not_fit_and_those_behind() -> None:
    found = Candidates("abc", relevance=[0.9, 0.8, 0.7], content=["x" * 8, "y" * 400, "z"])
    assert said(found, TokenBudget(10)) == {
        "a": "fits the budget of 10 tokens",
        "b": "does not fit the budget of 10 tokens",
        "c": "stands behind the first row that does not fit the budget of 10 tokens",
    }


def test_budget_includes_the_first_row_whatever_it_costs() -> None:
    found = Candidates("ab", relevance=[0.9, 0.8], content=["x" * 4000, "y"])
    assert said(found, TokenBudget(10)) == {
        "a": "1000 tokens are over the budget of 10, but the first row is always included",
        "b": "does not fit the budget of 10 tokens",
    }
    assert said(found, TokenBudget(0)) == dict.fromkeys("ab", "a budget of 0 tokens holds nothing")


@pytest.mark.parametrize(
    ("stage", "best", "other"),
    [
        (Floor(), "no floor is set", "no floor is set"),
        (Floor(FloorMode.ABSOLUTE, 0.2), "reaches the floor, absolute 0.2", "reaches the floor, absolute 0.2"),
        (Floor(FloorMode.ABSOLUTE, 0.3), "reaches the floor, absolute 0.3", "below the floor, absolute 0.3"),
        (
            Floor(FloorMode.ABSOLUTE, 7),
            "below the floor, absolute 1, but the best row stays",
            "below the floor, absolute 1",
        ),
        (
            Floor(FloorMode.RELATIVE_TO_TOP, 0.9),
            "reaches the floor, relative_to_top 0.9",
            "below the floor, relative_to_top 0.9",
        ),
    ],
)
def test_floor(stage: Floor, best: str, other: str) -> None:
    assert said(Candidates("ab", relevance=[0.3, 0.2]), stage) == {"a": best, "b": other}


@pytest.mark.parametrize(
    ("limit", "copy", "third"),
    [
        (0, "the same content stands above it", "the first with this content"),
        (2, "the same content stands above it", "the first with this content"),
        (1, "the same content stands above it", "the limit of 1 is reached above it"),
    ],
)
def test_dedup(limit: int, copy: str, third: str) -> None:
    found = Candidates("abc", relevance=[0.9, 0.8, 0.7], content=["The sky", "the  SKY", "grass"])
    assert said(found, Dedup(limit)) == {"a": "the first with this content", "b": copy, "c": third}


def alone(found: Candidates, stage: Stage) -> list[str]:
    """What a stage that runs first says of each row."""
    return [row.effects[0].sentence for row in explain(rank(found, (stage,)), ids=found.ids.tolist()).rows]


LEGS = Candidates(
    "abc", legs=("vec_full", "lexical"), leg_ranks=np.array([[0, 2], [1, -1], [-1, -1]]),
    leg_scores=np.array([[0.9, 2.0], [0.5, np.nan], [np.nan, 4.0]]),
)  # fmt: skip


def test_rank_fusion_writes_a_share_for_every_leg() -> None:
    """1/16 + 1/18 = 0.1181 and 1/17 = 0.0588 from 1; 1/5 + 1/7 = 0.3429 from 0."""
    assert alone(LEGS, ReciprocalRankFusion()) == [
        "Σ 1/(15 + rank): 1/(15 + 1) vec_full + 1/(15 + 3) lexical = 0.1181",
        "Σ 1/(15 + rank): 1/(15 + 2) vec_full = 0.0588",
        "Σ 1/(15 + rank): no leg found it = 0.0000",
    ]
    assert alone(LEGS, ReciprocalRankFusion(5.0, 0))[0].endswith("1/(5 + 0) vec_full + 1/(5 + 2) lexical = 0.3429")


def test_score_fusion_writes_every_legs_share() -> None:
    assert alone(LEGS, ScoreFusion(0.75)) == [
        "0.75·1.0000 vec_full + 0.25·0.0000 lexical = 0.7500",
        "0.75·0.0000 vec_full = 0.0000",
        "0.25·1.0000 lexical = 0.2500",
    ]


def test_composite_writes_its_three_parts() -> None:
    """A week old: exp(-1) = 0.3679; 0.8·0.5 + 0.05·0.3679 + 0.15·1 = 0.5684."""
    now = np.datetime64("2026-03-29T12:00")
    found = Candidates(
        "ab", relevance=[0.8, 0.4], importance=[0.5, 7.0], now=now,
        last_accessed_at=[now, now - np.timedelta64(168, "h")],
    )  # fmt: skip
    assert said(found, Composite())["b"] == (
        "0.8·0.5000 share of the best + 0.05·0.3679 recency + 0.15·1.0000 importance = 0.5684"
    )


def test_memory_score_corroboration_and_reflection_write_their_formulas() -> None:
    found = Candidates(
        "a", relevance=[0.5], memory_score=[0.8], corroborating=[3], is_reflection=[True], reflection_depth=[5]
    )
    assert said(found, MemoryScore()) == {"a": "0.1·0.8000 memory score adds +0.0800"}
    assert said(found, Corroboration()) == {"a": "corroborated by 3: 0.1·log2(1 + 3) = +0.2000"}
    assert said(found, Reflection()) == {"a": "a reflection of depth 5: 0.5000 × 1.2·(1 + 0.05·3) adds +0.1900"}


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        (TemporalMode.ADDITIVE, "dated near the time asked for: 0.4·1.0000 = +0.4000"),
        (TemporalMode.MULTIPLICATIVE, "dated near the time asked for: 0.5000·0.4·1.0000 = +0.2000"),
    ],
)
def test_temporal_writes_how_near(mode: TemporalMode, sentence: str) -> None:
    now = np.datetime64("2026-03-29T12:00")
    found = Candidates(
        "a", relevance=[0.5], created_at=[now - np.timedelta64(1, "D")], query="what broke yesterday", now=now
    )
    assert said(found, Temporal(mode=mode)) == {"a": sentence}
