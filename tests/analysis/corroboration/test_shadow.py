"""Shadow mode against the flag's own preview and planted retrievals; what one cluster's boost does, by hand."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid5

import pytest

from analysis.corroboration.shadow import GATES, Before, Effect, Gate, Shadow, effect, gates, shadow, verdict
from analysis.replay.flags import flag_flip
from queries.scope import Reach, Scope
from retrieval.pipelines import BOOST_ON
from tests import sample
from tests.analysis.conftest import scope_of
from tests.analysis.replay.planted_log import plant, plant_organization, text

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

GOOD = Shadow(
    on=False, logged=100, retrievals=100, reasons=(), changed=9, top_changed=5, entered=8, left=12, rbo=0.99,
    boosted=200, repeated=50, disputed=10, under=0,
)  # fmt: skip


def switch_on(owner: Owner) -> tuple[int, datetime]:
    """An entry of the audit after whatever was logged, and when it was made."""
    row = owner.execute(
        """insert into rankscope.flag_changes
             (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
           select 'org_a', gen_random_uuid(), %s, 'absent', 'true', 'trial', 'olga', 'test',
                  max(created_at) + interval '1 minute' from retrieval_ab_logs returning id, changed_at""",
        (BOOST_ON,),
    ).fetchone()
    assert row
    return int(row[0]), row[1].astimezone(UTC)


@pytest.mark.parametrize("org", ["org_lumenfield", "org_tidewater"])
def test_it_says_what_the_flag_s_preview_says(demo: Store, org: str) -> None:
    scope = scope_of(org)
    found, preview = shadow(demo, scope, []), flag_flip(demo, scope.reach, org, BOOST_ON, scope.since, scope.until)
    assert found.on is (org == "org_tidewater")
    assert (found.logged, found.retrievals, found.reasons) == (preview.logged, preview.retrievals, preview.reasons)
    assert (found.changed, found.top_changed) == (preview.changed, preview.top_changed)
    assert (found.entered, found.left, found.rbo) == (preview.entered, preview.left, preview.rbo)
    assert 0 < found.repeated < found.boosted
    assert Shadow.from_json(json.loads(json.dumps(asdict(found)))) == found


class TestPlanted:
    @pytest.fixture
    def scope(self, owner: Owner) -> Scope:
        """Observations 1 and 2 of three say the same; both are the same agent's."""
        plant_organization(owner, "org_a", text_0="the first says something else".ljust(40), text_2=text(1))
        owner.execute("update observations set agent_id = 'ann'")
        plant(owner, "org_a", "again")
        first, last = sample.TODAY.date() - timedelta(days=3), sample.TODAY.date()
        return Scope.of_days(Reach(("org_a",)), first, last, "org_a")

    def ids(self) -> list[str]:
        return [str(uuid5(sample.NAMESPACE, f"org_a/{number}")) for number in range(3)]

    def test_who_is_lifted(self, store: Store, scope: Scope) -> None:
        found = shadow(store, scope, self.ids()[2:])
        assert (found.logged, found.retrievals, found.on) == (2, 2, False)
        assert (found.boosted, found.repeated, found.disputed) == (4, 4, 2)  # two candidates of two retrievals
        assert shadow(store, scope, None).disputed is None

    def test_two_agents_are_no_self_repetition(self, store: Store, owner: Owner, scope: Scope) -> None:
        owner.execute("update observations set agent_id = 'bob' where id = %s", (self.ids()[2],))
        assert shadow(store, scope, []).repeated == 0

    def test_a_boost_that_is_on_is_judged_by_what_it_did(self, store: Store, owner: Owner, scope: Scope) -> None:
        """Logged with +0.5 for the two that agree: 0.9, 1.3, 1.2; without it 0.9, 0.8, 0.7.

        So the first enters the block of two and the third leaves it. The two retrievals without a boost count for
        coverage and for no gate.
        """
        owner.execute("""update organizations set features = '{"corroboration_boost_enabled": true}'""")
        lifted = [0.0, 0.5, 0.5]
        plant(owner, "org_a", "lifted", weighting=False, boost=lifted, before=[2, 0, 1], after=[2, 0, 1])
        found = shadow(store, scope, self.ids()[2:])
        assert (found.on, found.logged, found.retrievals, found.under, found.judged) == (True, 3, 3, 1, 1)
        assert (found.changed, found.top_changed, found.entered, found.left) == (1, 0, 1, 1)
        assert (found.boosted, found.repeated, found.disputed) == (2, 2, 1)
        assert {gate.name: gate.value for gate in gates(found)} == {
            "retrievals replayed": 1,
            "flips per 100 retrievals": 200,
            "top 5 kept": 1,
            "self-repetition among the boosted": 1,
            "disputed among the boosted": 0.5,
        }
        owner.execute("update observations set agent_id = 'bob' where id = %s", (self.ids()[2],))
        assert shadow(store, scope, []).repeated == 0

    def test_a_boost_that_is_on_and_never_logged_says_nothing(self, store: Store, owner: Owner, scope: Scope) -> None:
        owner.execute("""update organizations set features = '{"corroboration_boost_enabled": true}'""")
        found = shadow(store, scope, [])
        assert (found.on, found.retrievals, found.under, found.boosted, found.changed) == (True, 2, 0, 0, 0)
        assert verdict(gates(found)) is not True

    def test_a_boost_just_switched_on_keeps_what_was_known_before(
        self, store: Store, owner: Owner, scope: Scope
    ) -> None:
        """What the replay said while it was off, of the retrievals until the change; one came since without it."""
        off = shadow(store, scope, self.ids()[2:])
        owner.execute("""update organizations set features = '{"corroboration_boost_enabled": true}'""")
        assert shadow(store, scope, []).before is None  # set outside: nobody knows since when
        change, at = switch_on(owner)
        plant(owner, "org_a", "since")
        owner.execute(
            "update retrieval_ab_logs set created_at = %s where retrieval_id = %s",
            (at + timedelta(minutes=1), uuid5(sample.NAMESPACE, "org_a/since")),
        )
        found = shadow(store, scope, self.ids()[2:])
        assert (found.on, found.under, found.logged) == (True, 0, 3)
        assert found.before == Before(change, at.isoformat(), off)
        assert Shadow.from_json(json.loads(json.dumps(asdict(found)))) == found

    def test_what_one_cluster_s_boost_does(self, store: Store, scope: Scope) -> None:
        """Weighted 0.45, 0.8 and 0.7; a boost of 1 · log2(2) makes 0.45, 1.8 and 1.7: the same order."""
        assert effect(store, scope, self.ids()[1:], 3, 1.0).changed == 0
        assert effect(store, scope, self.ids()[1:], 3, 1.0).holding == 2

    def test_an_order_that_it_turns_round(self, store: Store, owner: Owner, scope: Scope) -> None:
        """Without weighting 0.9, 0.8, 0.7; with 0.5 for the two that agree 0.9, 1.3, 1.2: the first falls to third.

        Two of ten tokens fit: the third enters, the first leaves.
        """
        owner.execute("delete from retrieval_ab_logs")
        plant(owner, "org_a", "plain", weighting=False, after=[0, 1, 2], injected=[True, True, False])
        found = effect(store, scope, self.ids()[1:], 3, 0.5)
        assert (found.replayed, found.holding, found.changed, found.top_changed) == (1, 1, 1, 0)
        assert (found.entered, found.left) == (1, 1)
        (only,) = found.listed
        assert (only.observation, only.before, only.after) == (self.ids()[1], 1, 0)
        assert only.retrieval == str(uuid5(sample.NAMESPACE, "org_a/plain"))
        assert Effect.from_json(json.loads(json.dumps(asdict(found)))) == found

    def test_voices_that_came_later_count_for_nothing(self, store: Store, owner: Owner, scope: Scope) -> None:
        owner.execute("update observations set created_at = now() where id = %s", (self.ids()[2],))
        assert effect(store, scope, self.ids()[1:], 3, 9.0).changed == 0


class TestGates:
    def test_at_their_limits_all_hold(self) -> None:
        """100 · (8 + 12) / 100 = 20 flips, 95 of 100 keep their top 5, 50 of 200 repeat, 10 of 200 are disputed."""
        found = gates(GOOD)
        assert len(found) == GATES
        assert [gate.value for gate in found] == [100, 20, 0.95, 0.25, 0.05]
        assert all(gate.holds for gate in found)
        assert verdict(found) is True

    @pytest.mark.parametrize(
        ("changed", "failed"),
        [
            ({"retrievals": 49, "entered": 0, "left": 0, "top_changed": 0}, "retrievals replayed"),
            ({"left": 13}, "flips per 100 retrievals"),
            ({"top_changed": 6}, "top 5 kept"),
            ({"repeated": 51}, "self-repetition among the boosted"),
            ({"disputed": 11}, "disputed among the boosted"),
        ],
    )
    def test_one_beyond_its_limit_is_a_no_go(self, changed: dict[str, Any], failed: str) -> None:
        found = gates(replace(GOOD, **changed))
        assert [gate.name for gate in found if gate.holds is False] == [failed]
        assert verdict(found) is False

    def test_what_is_unknown_decides_nothing(self) -> None:
        assert verdict(gates(replace(GOOD, disputed=None))) is None
        assert verdict((Gate("x", None, 1, at_least=True), Gate("y", 2, 1, at_least=False))) is False
