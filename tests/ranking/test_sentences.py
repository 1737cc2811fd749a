import numpy as np
import pytest

from ranking import (
    Candidates,
    CrossEncoder,
    Dedup,
    Feedback,
    Floor,
    FloorMode,
    Normalise,
    Relevance,
    Stage,
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
        (Feedback(), "multiplied by feedback weight 0.500"),
        (Feedback(enabled=False), "feedback weighting is off: weight 0.500 changes nothing"),
        (
            Feedback(normalise=Normalise.MINMAX),
            "scaled to 0–1 among these rows, then multiplied by feedback weight 0.500",
        ),
    ],
)
def test_feedback(stage: Feedback, sentence: str) -> None:
    assert said(Candidates("ab", relevance=[0.9, 0.8], weight=[0.5, 1.0]), stage)["a"] == sentence


def test_cross_encoder_tells_the_pool_from_the_tail() -> None:
    found = Candidates("abc", relevance=[0.7, 0.9, 0.8], pair_score=[np.nan, 0.5, 0.25])
    assert said(found, CrossEncoder(pool=2)) == {
        "a": "not in the pool of 2: keeps its score and its place below",
        "b": "0.6·score + 0.4·pair score 0.5000",
        "c": "0.6·score + 0.4·pair score 0.2500",
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
