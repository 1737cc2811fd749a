"""The last rung of the ladder: outcomes reweighted where propensities were logged, refused in words elsewhere."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid5

import numpy as np
import pytest

from analysis.intervals import wilson
from analysis.replay import propensity
from analysis.replay.propensity import CLIP, Estimate, Reweighted, reweighted, snips
from analysis.replay.replaying import replay
from analysis.replay.settings import AS_LOGGED, WhatIf
from queries.scope import Reach, Scope
from tests import sample
from tests.analysis.replay.planted_log import AT, plant, plant_explored, plant_organization, say_likely

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

ORG = "org_a"
SCOPE = Scope(Reach((ORG,)), AT - timedelta(days=2), AT + timedelta(days=1), ORG)
UNWEIGHTED = WhatIf(weighting=False)


def estimated(store: Store, settings: WhatIf) -> Estimate:
    found = reweighted(store, SCOPE, settings)
    assert found.estimate is not None, found
    assert Reweighted.from_json(found.to_json()) == found
    return found.estimate


def test_a_store_without_the_column_says_what_would_make_it_so(store: Store, owner: Owner) -> None:
    plant_organization(owner, ORG)
    found = reweighted(store, SCOPE, AS_LOGGED)
    assert found.estimate is None
    assert "no propensities are logged" in (found.why_none or "")
    assert "would make it so" in (found.would_need or "")


class TestLogged:
    @pytest.fixture(autouse=True)
    def _explored(self, owner: Owner) -> None:
        plant_explored(owner, ORG)

    def test_as_logged_those_stand_for_all_that_got_what_the_weights_say(self, store: Store) -> None:
        found = estimated(store, AS_LOGGED)
        assert (found.sessions, found.left_out, found.matching) == (160, 0, 120)
        assert found.was == (96 + 2 + 8) / 160
        assert found.accepted == pytest.approx(96 / 120)
        # equal weights: as many as there are, and the interval of a plain share
        assert found.effective == pytest.approx(120)
        assert found.high - found.accepted == pytest.approx(1.959964 * (0.8 * 0.2 / 120) ** 0.5)
        assert found.accepted - found.low == pytest.approx(1.959964 * (0.8 * 0.2 / 120) ** 0.5)
        assert found.largest == pytest.approx(1 / 0.75)
        assert found.mean == pytest.approx(1)
        assert found.clipped == 0

    def test_without_weights_the_unlikely_count_for_more(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        found = estimated(store, UNWEIGHTED)
        assert found.matching == 40
        assert found.accepted == pytest.approx((2 * 4 + 8 * 2) / (20 * 4 + 20 * 2))
        assert found.effective == pytest.approx((20 * 4 + 20 * 2) ** 2 / (20 * 16 + 20 * 4))
        assert found.largest == pytest.approx(4)
        assert found.mean == pytest.approx(120 / 160)
        monkeypatch.setattr(propensity, "CLIP", 3.0)
        clipped = estimated(store, UNWEIGHTED)
        assert clipped.clipped == 0.5
        assert clipped.largest == pytest.approx(4)
        assert clipped.accepted == pytest.approx((2 * 3 + 8 * 2) / (20 * 3 + 20 * 2))

    def test_what_was_drawn_at_random_is_told_apart_and_not_replayed(self, store: Store) -> None:
        found = replay(store, SCOPE, AS_LOGGED)
        assert found.coverage.reasons == (("explored", 40),)
        assert (found.coverage.replayed, found.changed) == (121, 0)

    def test_what_was_never_given_is_not_estimable(self, store: Store) -> None:
        found = reweighted(store, SCOPE, WhatIf(budget=10))  # one text instead of two in every block
        assert found.estimate is None
        assert "the log never tried it" in (found.why_none or "")

    def test_too_few_that_match_are_collected_first(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(propensity, "FLOOR", 37)
        words = "Collecting data: the sessions that match weigh as much as 36, 37 are needed."
        assert reweighted(store, SCOPE, UNWEIGHTED) == Reweighted(None, words)

    def test_a_session_of_two_retrievals_weighs_their_product(self, store: Store, owner: Owner) -> None:
        second = plant(owner, ORG, "again")
        owner.execute(
            "update retrieval_ab_logs set session_id = 'session-weighted-0' where retrieval_id = %s", (second,)
        )
        say_likely(owner, [second], 0.1)
        assert estimated(store, AS_LOGGED).largest == pytest.approx(1 / 0.75 / 0.1)
        # its second retrieval was given another order than these settings give
        assert estimated(store, UNWEIGHTED).matching == 40

    @pytest.mark.parametrize("wrong", [None, 0.0, -0.5, 1.5, float("nan"), float("inf")])
    def test_a_session_without_a_probability_is_left_out_and_counted(
        self, store: Store, owner: Owner, wrong: float | None
    ) -> None:
        say_likely(owner, [uuid5(sample.NAMESPACE, f"{ORG}/weighted-{number}") for number in (0, 119)], wrong)
        found = estimated(store, AS_LOGGED)
        assert (found.sessions, found.left_out, found.matching) == (158, 2, 118)
        assert found.accepted == pytest.approx(95 / 118)

    def test_a_retrieval_whose_rows_differ_has_none(self, store: Store, owner: Owner) -> None:
        owner.execute(
            "update retrieval_ab_logs set propensity = 0.5 where session_id = %s and weighted_rank = 0",
            ("session-weighted-0",),
        )
        assert estimated(store, AS_LOGGED).left_out == 1

    def test_probabilities_that_are_all_1_or_none_at_all_estimate_nothing(self, store: Store, owner: Owner) -> None:
        owner.execute("update retrieval_ab_logs set propensity = 1")
        found = reweighted(store, SCOPE, AS_LOGGED)
        assert "all are 1" in (found.why_none or "")
        owner.execute("update retrieval_ab_logs set propensity = null")
        found = reweighted(store, SCOPE, AS_LOGGED)
        assert "no retrieval of a session that ended has" in (found.why_none or "")


def test_the_estimate_finds_a_value_that_is_known() -> None:
    """Two actions, the target takes the rarer one: accepted in 7 of 10 under it, in 4 of 10 under the other."""
    random = np.random.default_rng(5)
    missed = 0
    for _ in range(200):
        taken = random.random(2_000) < 0.2
        accepted = random.random(2_000) < np.where(taken, 0.7, 0.4)
        found = snips(np.where(taken, 1 / 0.2, 0.0), accepted)
        missed += not found.low <= 0.7 <= found.high
        assert found.mean == pytest.approx(1, abs=0.2)
    assert 2 <= missed <= 22  # 10 expected of 200


def test_weights_are_cut_and_the_cut_is_told() -> None:
    weights = np.array([2 * CLIP, CLIP, 1.0, 0.0])
    found = snips(weights, np.array([True, False, True, True]))
    assert found.clipped == 1 / 3
    assert found.largest == 2 * CLIP
    assert found.accepted == pytest.approx((CLIP + 1) / (2 * CLIP + 1))


@pytest.mark.parametrize("accepted", [True, False])
def test_where_all_or_none_were_accepted_the_interval_is_wilsons_of_what_they_weigh(accepted: bool) -> None:  # noqa: FBT001 - a case
    weights = np.array([2.0, 2.0, 1.0, 0.0] * 20)
    ended = np.where(weights > 0, accepted, not accepted)  # those without weight say nothing
    found = snips(weights, ended)
    expected = wilson(found.effective * accepted, found.effective)
    assert (found.accepted, found.low, found.high) == (accepted, expected.low, expected.high)
    assert found.high - found.low > 0.05
