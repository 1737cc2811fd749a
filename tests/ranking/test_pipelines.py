import re
from contextlib import suppress
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ranking
from ranking import (
    PRESETS,
    STAGES,
    Candidates,
    Corroboration,
    Feedback,
    Floor,
    FloorMode,
    Mmr,
    Normalise,
    PipelineError,
    Relevance,
    Stage,
    Temporal,
    TemporalMode,
    TokenBudget,
    from_text,
    rank,
    to_text,
)
from tests.ranking import strategies

stages = st.one_of(
    st.sampled_from([stage() for stage in STAGES]),
    st.builds(Corroboration, scale=st.floats(0, 1e20)),
    st.builds(Feedback, enabled=st.booleans(), normalise=st.sampled_from(Normalise)),
    st.builds(Floor, mode=st.sampled_from(FloorMode), value=st.floats(-1e-9, 2)),
    st.builds(Temporal, boost=st.floats(-1, 1), mode=st.sampled_from(TemporalMode), whole_words=st.booleans()),
    st.builds(Mmr, k=st.integers(0, 100), lam=st.floats(0, 1)),
    st.builds(TokenBudget, tokens=st.integers(0, 10**9)),
)


@given(st.lists(stages, max_size=6).map(tuple))
def test_a_pipeline_round_trips_as_text_and_as_code(pipeline: tuple[Stage, ...]) -> None:
    text = to_text(pipeline)
    assert from_text(text) == pipeline
    assert quote(text, safe="") == text
    assert eval(repr(pipeline), vars(ranking)) == pipeline  # noqa: S307 - our own repr
    assert hash(from_text(text)) == hash(pipeline)


def test_the_text_of_the_live_pipeline() -> None:
    assert to_text(ranking.LIVE) == (
        "Relevance~~Head~k~20~~Feedback~enabled~true~normalise~none~~TokenBudget~tokens~500"
    )
    assert from_text("Relevance~~Head~~Feedback~~TokenBudget") == ranking.LIVE
    assert from_text("") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Nonsense", "stage 1: expected one of Relevance, "),
        ("Relevance~~", "stage 2: expected one of Relevance, "),
        ("Relevance~~Mmr~k", "stage 2, Mmr: expected a value after every field, found none after 'k'"),
        ("Mmr~q~1", "stage 1, Mmr: expected each of k, lam, duplicate_threshold once, found 'q'"),
        ("Mmr~k~1~k~2", "found 'k'"),
        ("Mmr~k~many", "stage 1, Mmr.k: expected int, found 'many'"),
        ("Mmr~lam~2.0", "stage 1, Mmr: lam: expected 0 to 1, found 2"),
        ("Mmr~lam~nan", "stage 1, Mmr.lam: expected float, found 'nan'"),
        ("Feedback~enabled~yes", "stage 1, Feedback.enabled: expected bool, found 'yes'"),
        ("Floor~mode~low", "stage 1, Floor.mode: expected off, absolute, relative_to_top, found 'low'"),
        ("Relevance~words~hacked", "found 'words'"),
        ("__import__", "stage 1: expected one of"),
    ],
)
def test_a_bad_text_gives_one_clear_error(text: str, message: str) -> None:
    with pytest.raises(PipelineError, match=re.escape(message)):
        from_text(text)


@given(st.text(max_size=30))
def test_any_text_is_a_pipeline_or_a_pipeline_error(text: str) -> None:
    with suppress(PipelineError):
        assert from_text(to_text(from_text(text))) == from_text(text)


def test_a_stage_of_ones_own_has_no_text() -> None:
    with pytest.raises(PipelineError, match="expected one of"):
        to_text((lambda found: found,))


def test_a_whole_number_for_a_float_is_the_same_pipeline() -> None:
    assert from_text(to_text((Corroboration(scale=1),))) == (Corroboration(scale=1.0),)


@pytest.mark.parametrize("name", PRESETS)
@given(found=strategies.candidates())
def test_every_preset_runs_on_candidates_that_carry_everything(name: str, found: Candidates) -> None:
    result = rank(found, PRESETS[name])
    assert len(result.steps) == len(PRESETS[name])
    assert len(set(result.ids())) == len(result.ids()) <= len(found)


def test_every_stage_holds_only_numbers_booleans_and_options() -> None:
    for stage in STAGES:
        assert all(isinstance(value, int | float | str) for value in vars(stage()).values())
        assert stage() == stage()
        assert hash(stage()) == hash(stage())


def test_everything_public_is_exported() -> None:
    assert sorted(set(ranking.__all__), key=str) == sorted(ranking.__all__, key=str)
    assert all(hasattr(ranking, name) for name in ranking.__all__)
    assert Relevance in STAGES
