from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from queries.flags.states import flag_states
from ranking import FULL, INTENDED, LIVE, MEMSENSE, Feedback, Head, PipelineError, Relevance, TokenBudget, to_text
from retrieval.pipelines import Flags, fitted, is_feedback_weighting_enabled, named_pipeline, token_budget
from tests.sample import add_organization

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]


class TestFeedbackWeighting:
    @pytest.mark.parametrize(
        ("features", "enabled"),
        [
            ({}, True),
            (None, True),
            ({"feedback_weighting_disabled": False}, True),
            ({"feedback_weighting_disabled": True}, False),
            ({"feedback_weighting_disabled": "true"}, True),
            ([], True),
        ],
    )
    def test_only_a_flag_set_to_true_switches_it_off(
        self, store: Store, owner: Owner, features: object, *, enabled: bool
    ) -> None:
        add_organization(owner, "acme", features=features)
        assert is_feedback_weighting_enabled(store, "acme") is enabled

    @pytest.mark.parametrize("org", ["nobody", "", None, "with \0 nul"])
    def test_an_organization_that_is_not_there_has_it_on(self, store: Store, org: str | None) -> None:
        assert is_feedback_weighting_enabled(store, org) is True


class TestFlags:
    @pytest.mark.parametrize(
        ("features", "flags", "pipeline"),
        [
            ("{}", Flags(), LIVE),
            ('{"corroboration_boost_enabled": true}', Flags(boost=True), INTENDED),
            ('{"corroboration_boost_enabled": false}', Flags(), LIVE),
            (
                '{"corroboration_boost_enabled": true, "feedback_weighting_disabled": true}',
                Flags(weighting=False, boost=True),
                INTENDED,
            ),
        ],
    )
    def test_the_boost_decides_on_the_pipeline(self, features: str, flags: Flags, pipeline: object) -> None:
        found = Flags.of(flag_states(features))
        assert (found, found.pipeline) == (flags, pipeline)

    def test_unreadable_flags_are_the_defaults_and_say_so(self) -> None:
        found = Flags.of(flag_states("[1]"))
        assert (found.weighting, found.boost, found.pipeline) == (True, False, LIVE)
        assert found.unreadable == "the organization's features are not an object but an array: the defaults hold"


class TestNames:
    def test_a_preset_in_any_case(self) -> None:
        assert named_pipeline("memsense") == named_pipeline("MEMSENSE") == MEMSENSE

    def test_a_text(self) -> None:
        assert named_pipeline(text=to_text(FULL)) == FULL

    def test_neither(self) -> None:
        assert named_pipeline() is None

    @pytest.mark.parametrize(
        ("given", "reason"),
        [
            ({"preset": "BEST"}, "preset: expected one of LIVE, .*, found 'BEST'"),
            ({"text": "Best"}, "stage 1: expected one of"),
            ({"preset": "LIVE", "text": "Relevance"}, "found both"),
        ],
    )
    def test_what_is_neither_is_refused(self, given: dict[str, str], reason: str) -> None:
        with pytest.raises(PipelineError, match=reason):
            named_pipeline(**given)


class TestFitting:
    @pytest.mark.parametrize(
        ("work", "tokens"),
        [("bug_fix", 750), ("feature", 400), ("refactor", 600), ("chore", 300), ("other", 500), (None, 500)],
    )
    def test_a_preset_takes_the_budget_of_the_work(self, work: str | None, tokens: int) -> None:
        stages = fitted(LIVE, weighting=True, work_type=work)
        assert stages == (Relevance(), Head(20), Feedback(), TokenBudget(tokens))
        assert token_budget(stages, work) == tokens

    def test_a_pipeline_of_ones_own_keeps_its_budget(self) -> None:
        own = (Relevance(), TokenBudget(7))
        assert fitted(own, weighting=True, work_type="bug_fix") == own
        assert token_budget(own, "bug_fix") == 7

    def test_without_a_budget_stage_the_work_decides(self) -> None:
        assert token_budget(fitted(MEMSENSE, weighting=True, work_type="chore"), "chore") == 300

    @pytest.mark.parametrize("stages", [LIVE, INTENDED, FULL, (Relevance(), Feedback(), Head(3))])
    def test_the_switch_is_honoured_in_every_pipeline(self, stages: tuple[Any, ...]) -> None:
        switched = fitted(stages, weighting=False, work_type=None)
        assert [stage.enabled for stage in switched if isinstance(stage, Feedback)] == [False]
        assert [type(stage) for stage in switched] == [type(stage) for stage in stages]
