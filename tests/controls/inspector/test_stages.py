"""A pipeline to the address and back: nothing is lost, defaults vanish, and nonsense changes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controls.inspector.stages import KNOBS, NAMES, PARTS, STARTS, from_address, in_order, shown, to_address
from ranking import FULL, INTENDED, LIVE, MEMINI, MEMSENSE, PRESETS, Corroboration, Feedback, Mmr, TokenBudget, to_text
from ranking.fusion import ReciprocalRankFusion, ScoreFusion
from ranking.ranking import Stage
from ranking.relevance import Head, Relevance

Pipeline = tuple[Stage, ...]


@st.composite
def pipelines(draw: st.DrawFn) -> Pipeline:
    """Any pipeline the panel can make: a beginning, some stages, each knob anywhere between its bounds."""
    kinds = draw(st.sets(st.sampled_from(list(PARTS.values()))))
    stages: list[Any] = [draw(st.sampled_from(list(STARTS.values()))), *(kind() for kind in kinds)]
    for place, stage in enumerate(stages):
        for knob in KNOBS:
            if knob.stage is type(stage) and draw(st.booleans()):
                stages[place] = replace(stages[place], **{knob.field: draw(values(knob))})
    return in_order(stages)


def values(knob: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 - a Knob
    if knob.switch:
        return st.booleans()
    if knob.options is not None:
        return st.sampled_from(list(knob.options))
    if knob.whole:
        return st.integers(int(knob.low), int(knob.high))
    steps = round((knob.high - knob.low) / knob.step)
    return st.integers(0, steps).map(lambda step: round(knob.low + step * knob.step, 6))


@given(pipelines(), st.sampled_from(list(PRESETS.values())))
def test_a_pipeline_comes_back_from_its_address(stages: Pipeline, base: Pipeline) -> None:
    address = to_address(stages, base)
    assert to_text(from_address(address, base).stages) == to_text(stages)
    assert from_address(address, base).ignored == ()
    assert to_address(from_address(address, base).stages, base) == address


@pytest.mark.parametrize("base", PRESETS.values(), ids=PRESETS)
def test_a_preset_needs_no_words(base: Pipeline) -> None:
    assert to_address(base, base) == {}
    assert from_address({}, base).stages == base


class TestWords:
    def test_one_knob_is_one_word(self) -> None:
        turned: Pipeline = (*INTENDED[:2], Corroboration(0.25), *INTENDED[3:])
        assert to_address(turned, INTENDED) == {"boost": "0.25"}

    def test_a_switch_and_a_budget(self) -> None:
        turned = (Relevance(), Head(20), Feedback(enabled=False), TokenBudget(750))
        assert to_address(turned, LIVE) == {"fb": "off", "tokens": "750"}

    def test_the_budget_of_the_work_is_the_default_it_is_told_from(self) -> None:
        fitted: Pipeline = (*LIVE[:-1], TokenBudget(750))
        assert to_address(fitted, fitted) == {}
        assert to_address(LIVE, fitted) == {"tokens": "500"}

    def test_stages_put_in_and_taken_out(self) -> None:
        turned = (Relevance(), Head(20), Corroboration(), TokenBudget(500))
        assert to_address(turned, LIVE) == {"with": "corroboration", "without": "feedback"}
        both = from_address({"with": "mmr.corroboration", "without": "feedback.head"}, LIVE).stages
        assert both == (Relevance(), Corroboration(), Mmr(), TokenBudget(500))

    def test_another_beginning(self) -> None:
        assert from_address({"start": "legs"}, MEMSENSE).stages[0] == ReciprocalRankFusion(5.0, 0)
        assert from_address({"start": "scores", "alpha": "0.7"}, MEMINI).stages[0] == ScoreFusion(0.7)
        assert to_address((ReciprocalRankFusion(15.0, 1), *MEMINI[1:]), MEMINI) == {"start": "routes"}

    def test_every_name_stands_for_one_thing(self) -> None:
        assert len(set(NAMES)) == len(NAMES)
        taken = {"org", "project", "window", "from", "to", "q", "retrieval", "obs", "show", "v", "preset", "scorer"}
        assert not taken & set(NAMES)

    def test_every_default_lies_between_its_bounds(self) -> None:
        for knob in KNOBS:
            value = getattr(
                next((s for s in STARTS.values() if type(s) is knob.stage), None) or knob.stage(), knob.field
            )
            if not knob.switch and knob.options is None:
                assert knob.low <= value <= knob.high
                assert from_address({knob.key: shown(value)}, in_order([Relevance(), knob.stage()])).ignored == ()


@pytest.mark.parametrize(
    "address",
    [
        {"boost": "9"}, {"boost": "-0.1"}, {"boost": "nan"}, {"boost": "1_0"}, {"boost": ""}, {"boost": "0,2"},
        {"boost": "1e999"}, {"tokens": "2.5"}, {"tokens": "٣"}, {"fb": "yes"}, {"norm": "MINMAX"}, {"start": "x"},
        {"with": "x"}, {"without": "feedbac"}, {"lam": "0.5"}, {"k": "7"},
    ],
)  # fmt: skip
def test_what_says_nothing_is_named_and_changes_nothing(address: dict[str, str]) -> None:
    read = from_address(address, INTENDED)
    assert read.stages == INTENDED
    assert read.ignored == tuple(address)


def test_the_whole_of_everything_is_reachable_from_the_smallest() -> None:
    address = to_address(FULL, LIVE)
    assert from_address(address, LIVE).stages == FULL
    assert address["start"] == "routes"
    assert address["pick"] == "20"
