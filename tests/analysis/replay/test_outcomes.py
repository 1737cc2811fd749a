"""Natural experiments: one switch and its interval, everything else refused in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
import pytest

from analysis.intervals import FLOOR
from analysis.replay import outcomes as replay_outcomes
from analysis.replay.outcomes import NO_BOOST_LOGGED, outcomes, switched
from queries.scope import Reach, Scope
from retrieval.pipelines import BOOST_ON
from tests import sample
from tests.analysis.conftest import scope_of
from tests.analysis.replay.planted_log import AT, plant
from tests.analysis.replay.switching import endings

if TYPE_CHECKING:
    from datetime import datetime

    from queries.engine import Store

    Owner = psycopg.Connection[Any]


def test_one_switch_is_a_natural_experiment() -> None:
    before, after = [True] * 30 + [False] * 10, [True] * 20 + [False] * 20
    found = switched(endings([True] * 40 + [False] * 40, before + after), "Weighting").experiment
    assert found is not None
    assert not found.to
    assert (found.effect.earlier.share, found.effect.later.share) == (30 / 40, 20 / 40)
    assert found.effect.difference == 20 / 40 - 30 / 40
    # two binomial shares: variance 0.75·0.25/40 + 0.5·0.5/40, and 1.96 of its root on either side
    half = 1.96 * (0.75 * 0.25 / 40 + 0.5 * 0.5 / 40) ** 0.5
    assert found.effect.low == pytest.approx(-0.25 - half, abs=0.02)
    assert found.effect.high == pytest.approx(-0.25 + half, abs=0.02)
    assert found.halves == (20, 20)
    assert sum(week.sessions for week in found.weeks) == 80
    assert [week.on for week in found.weeks] == sorted((week.on for week in found.weeks), reverse=True)


def test_the_same_sessions_give_the_same_interval() -> None:
    drawn = np.random.default_rng(1).random(200) < 0.8
    given = endings([True] * 100 + [False] * 100, drawn.tolist())
    assert switched(given, "Weighting") == switched(given, "Weighting")


@pytest.mark.parametrize(
    ("on", "sentence"),
    [
        ([], "No session with a retrieval has ended yet."),
        ([True] * 90, "Weighting was on in all 90 sessions: there is nothing to compare with."),
        ([False] * 3, "Weighting was off in all 3 sessions: there is nothing to compare with."),
        ([True] * 50 + [False] * 50 + [True], "Weighting was switched 2 times: no single before and after."),
        (
            [True] * 50 + [False] * (FLOOR - 1),
            f"Collecting data: 50 sessions before the switch and {FLOOR - 1} after, {FLOOR} each are needed.",
        ),
    ],
)
def test_anything_else_is_no_experiment(on: list[bool], sentence: str) -> None:
    found = switched(endings(on, [True] * len(on)), "Weighting")
    assert found.experiment is None
    assert found.why_none == sentence


def test_sessions_that_saw_both_are_left_out_and_counted() -> None:
    found = switched(endings([True] * 40 + [False] * 42, [True] * 82, straddling=2), "Weighting").experiment
    assert found is not None
    assert (found.straddling, found.effect.later.sessions) == (2, 40)


def test_the_demo_holds_one(demo: Store, demo_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Collecting data" in (outcomes(demo, scope_of("org_quillworks", days=30)).weighting.why_none or "")
    monkeypatch.setattr(replay_outcomes, "FLOOR", 10)  # a small demo has sixty sessions in all
    found = outcomes(demo, scope_of("org_quillworks", days=30)).weighting.experiment
    assert found is not None
    with psycopg.connect(demo_address) as connection:
        switched = connection.execute(
            "select changed_at, id from rankscope.flag_changes where org_id = 'org_quillworks'"
        ).fetchone()
        counted = connection.execute(
            """select bool_and(l.weighting_enabled), s.outcome = 'accepted' from retrieval_ab_logs l
                 join sessions s on s.org_id = l.org_id and s.id = l.session_id
                where l.org_id = 'org_quillworks' and s.outcome is not null group by s.id, s.outcome"""
        ).fetchall()
    assert switched is not None
    assert found.switched_at >= switched[0].isoformat(timespec="seconds")
    assert found.change == switched[1]
    sides = [[accepted for on, accepted in counted if on is state] for state in (True, False)]
    shares = (found.effect.earlier, found.effect.later)
    assert [(share.sessions, share.accepted) for share in shares] == [(len(side), sum(side)) for side in sides]
    assert outcomes(demo, scope_of("org_alder")).weighting.experiment is None


def test_a_switch_of_the_boost_is_one_too(store: Store, owner: Owner) -> None:
    """40 sessions before it, 3 in 4 accepted; 40 after it, half of them; weighting was on all the time."""
    org = sample.add_organization(owner, "org_a")
    for number in range(80):
        boosted, accepted = number >= 40, number % 4 < (2 if number >= 40 else 3)
        plant(owner, org, str(number), boost=[0.0, 0.1, 0.0] if boosted else [None] * 3)
        owner.execute(
            "update retrieval_ab_logs set created_at = %s where session_id = %s",
            (AT - timedelta(days=40) + timedelta(hours=8 * number), f"session-{number}"),
        )
        sample.add_session(owner, org, f"session-{number}", "accepted" if accepted else "rejected")
    found = outcomes(store, Scope(Reach((org,)), AT - timedelta(days=50), AT, org))
    assert found.weighting.why_none == "Weighting was on in all 80 sessions: there is nothing to compare with."
    assert found.boost.experiment is not None
    assert found.boost.experiment.to
    assert found.boost.experiment.switched_at == (AT - timedelta(days=40) + timedelta(hours=320)).isoformat()
    shares = (found.boost.experiment.effect.earlier, found.boost.experiment.effect.later)
    assert [(share.sessions, share.accepted) for share in shares] == [(40, 30), (40, 20)]
    assert found.boost.experiment.halves == (20, 20)
    assert found.boost.experiment.change is None  # nobody made it here
    owner.execute("alter table retrieval_ab_logs drop column corroboration_boost")
    again = outcomes(store, Scope(Reach((org,)), AT - timedelta(days=50), AT, org))
    assert again.boost.why_none == NO_BOOST_LOGGED


def test_a_flag_that_was_turned_since_the_last_session_says_when(store: Store, owner: Owner) -> None:
    org, turned = sample.add_organization(owner, "org_a"), AT - timedelta(hours=3)
    plant(owner, org, "only", boost=[None] * 3)
    owner.execute("update retrieval_ab_logs set created_at = %s", (AT - timedelta(days=9),))
    sample.add_session(owner, org, "session-only", "accepted")
    scope = Scope(Reach((org,)), AT - timedelta(days=50), AT, org)
    nothing = "The boost was off in the only session: there is nothing to compare with."
    assert outcomes(store, scope).boost.why_none == nothing
    for old, new, at in (("absent", "true", turned), ("true", "absent", AT + timedelta(hours=1))):
        owner.execute(
            """insert into rankscope.flag_changes
                 (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
               values (%s, gen_random_uuid(), %s, %s, %s, 'trial', 'olga', 'test', %s)""",
            (org, BOOST_ON, old, new, at),
        )
    since = f"It was switched on {turned:%-d %b %Y %H:%M} UTC; in this window no session with it on has ended since."
    assert outcomes(store, scope).boost.why_none == f"{nothing} {since}"
    assert "switched" not in str(outcomes(store, scope).weighting.why_none)
    later = replace(scope, until=AT + timedelta(days=1))  # it was taken back by then
    assert outcomes(store, later).boost.why_none == nothing


def test_a_turn_from_before_the_sessions_that_are_looked_at_says_nothing_of_them(store: Store, owner: Owner) -> None:
    """Sessions with the boost ended then; something that writes no audit took it back since."""
    org = sample.add_organization(owner, "org_a")
    for name, boost, days in (("with", [0.0, 0.1, 0.0], 150), ("without", [None] * 3, 9)):
        plant(owner, org, name, boost=boost)
        at = AT - timedelta(days=days)
        owner.execute("update retrieval_ab_logs set created_at = %s where session_id = %s", (at, f"session-{name}"))
        sample.add_session(owner, org, f"session-{name}", "accepted")
    owner.execute(
        """insert into rankscope.flag_changes
             (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
           values (%s, gen_random_uuid(), %s, 'absent', 'true', 'trial', 'olga', 'test', %s)""",
        (org, BOOST_ON, AT - timedelta(days=160)),
    )
    scope = Scope(Reach((org,)), AT - timedelta(days=50), AT, org)
    nothing = "The boost was off in the only session: there is nothing to compare with."
    assert outcomes(store, scope).boost.why_none == nothing


def test_the_demos_boost_was_on_in_every_session_of_tidewater(demo: Store) -> None:
    assert "The boost was on in all" in (outcomes(demo, scope_of("org_tidewater")).boost.why_none or "")
    assert "The boost was off in all" in (outcomes(demo, scope_of("org_alder")).boost.why_none or "")


def test_a_change_that_sessions_did_not_obey_since_is_not_the_one_that_made_the_switch(
    store: Store, owner: Owner
) -> None:
    """It left the boost on, 40 sessions then ran without: other software has switched it off and on since."""
    org = sample.add_organization(owner, "org_a")
    begin = AT - timedelta(days=40)
    for number in range(80):
        plant(owner, org, str(number), boost=[0.0, 0.1, 0.0] if number >= 40 else [None] * 3)
        owner.execute(
            "update retrieval_ab_logs set created_at = %s where session_id = %s",
            (begin + timedelta(hours=8 * number), f"session-{number}"),
        )
        sample.add_session(owner, org, f"session-{number}", "accepted")

    def linked() -> int | None:
        found = outcomes(store, Scope(Reach((org,)), AT - timedelta(days=50), AT, org)).boost.experiment
        assert found is not None
        return found.change

    def change(at: datetime) -> int:
        row = owner.execute(
            """insert into rankscope.flag_changes
                 (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
               values (%s, gen_random_uuid(), %s, 'absent', 'true', 'trial', 'olga', 'test', %s) returning id""",
            (org, BOOST_ON, at),
        ).fetchone()
        assert row is not None
        return int(row[0])

    change(begin - timedelta(days=5))
    assert linked() is None
    last_without = begin + timedelta(hours=8 * 39)
    # what a platform read of a flag it may hold for a while
    made = change(last_without - timedelta(minutes=5))
    assert linked() == made
