"""A change taken back from its own page: where that is offered, and what it says first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analysis.replay.realised import Realised, realised
from controls import loading
from controls.access import Principal
from controls.flags.confirm import REVERTED
from controls.flags.preview import RESTORES, UNTRIED
from queries.once import make
from queries.scope import EVERYTHING
from tests.pages.application import application
from tests.pages.flags_page import opened
from tests.queries.flags.flag_store import BOOST, WEIGHTING, set_flag

if TYPE_CHECKING:
    from datetime import datetime

    import psycopg
    from streamlit.testing.v1 import AppTest

    from queries.engine import Store
    from queries.flags.registry import State
    from queries.scope import Scope

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_flagged", "_writing")


def switch_on(owner: Owner, ago: str) -> str:
    """The boost of Acme, under which nothing in the log was made."""
    owner.execute("""update organizations set features = '{"corroboration_boost_enabled": true}' where id = 'org_a'""")
    row = owner.execute(
        """insert into rankscope.flag_changes
             (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
           values ('org_a', gen_random_uuid(), %s, 'absent', 'true', 'trial', 'olga', 'test', now() - %s::interval)
           returning id""",
        (BOOST, ago),
    ).fetchone()
    assert row
    return str(row[0])


def asked(test: AppTest) -> str:
    """What the dialog lists."""
    test.button(key="revert").click().run()
    assert not test.exception
    return next(line.value for line in test.text if "\nboost on → " in line.value)


def test_right_after_a_change_the_way_back_restores_what_was_ranked(address: str, owner: Owner) -> None:
    with application(address, change=switch_on(owner, "1 second")) as test:
        said = asked(opened(test))
    assert said.endswith(f"Preview: {RESTORES}")


def test_a_retrieval_that_cannot_be_ranked_again_is_one_all_the_same(address: str, owner: Owner) -> None:
    change = switch_on(owner, "1 second")
    owner.execute(
        """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, query_text, observation_id,
             weighting_enabled, created_at)
           values ('org_a', gen_random_uuid(), 's', 'q', gen_random_uuid(), true, now())"""
    )
    with application(address, change=change) as test:
        said = asked(opened(test))
    assert said.endswith(f"Preview: {UNTRIED}")


def test_a_change_that_another_followed_is_not_offered_to_be_taken_back(address: str, owner: Owner) -> None:
    first = switch_on(owner, "2 days")
    switch_on(owner, "1 day")
    with application(address, change=first) as test:
        opened(test)
        assert "revert" not in [button.key for button in test.button]
        assert "It cannot be reverted: the flag was changed again since." in [line.value for line in test.caption]


def test_who_may_only_look_is_offered_no_way_back(address: str, owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    vera = Principal("vera", "viewer", frozenset({"org_a"}), "proxy")
    monkeypatch.setattr("controls.access.local_principal", lambda _: vera)
    with application(address, change=switch_on(owner, "1 second")) as test:
        opened(test)
        keys = [button.key for button in test.button]
    assert "close_change" in keys
    assert "revert" not in keys


def test_a_state_that_retrievals_did_not_obey_has_an_unknown_effect(address: str, owner: Owner) -> None:
    """All four were logged while it was on, and made without it."""
    with application(address, change=switch_on(owner, "5 days")) as test:
        said = asked(opened(test))
    assert said.endswith(f"Preview: {UNTRIED}")


def test_the_way_back_stands_beside_the_heading_and_the_history_names_the_flag(address: str, owner: Owner) -> None:
    with application(address, change=switch_on(owner, "1 second")) as test:
        opened(test)
        keys = [button.key for button in test.button]
        assert keys.index("revert") == keys.index("close_change") - 1
        columns = list(test.dataframe[-1].value.columns)
    assert columns.index("organization") < columns.index("means") < columns.index("reason") < columns.index("flag")


def test_a_change_that_the_store_dates_later_than_our_clock_can_be_taken_back(address: str, owner: Owner) -> None:
    with application(address, change=switch_on(owner, "-2 days")) as test:
        said = asked(opened(test))
    assert said.endswith(f"Preview: {UNTRIED}")


def test_what_was_logged_since_is_not_ranked_again_for_a_state_that_was_tried(
    address: str, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranked: list[datetime] = []

    def counting(store: Store, scope: Scope, flag: str, old: State, new: State) -> Realised | None:
        ranked.append(scope.until)
        return realised(store, scope, flag, old, new)

    monkeypatch.setattr(loading, "realised", counting)
    row = owner.execute(
        """insert into rankscope.flag_changes
             (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
           values ('org_a', gen_random_uuid(), %s, 'true', 'absent', 'trial', 'olga', 'test', now() - interval '5 days')
           returning id""",
        (WEIGHTING,),
    ).fetchone()
    assert row
    with application(address, change=str(row[0])) as test:
        opened(test)
        shown = len(ranked)
        test.button(key="revert").click().run()
        assert not test.exception
        said = next(line.value for line in test.text if "flips per 100" in line.value)
    assert "Preview on the 4 of 4 retrievals" in said
    assert (shown, len(ranked)) == (1, 1)


def test_what_became_of_a_revert_is_told_in_the_record_alone_until_that_is_closed(
    address: str, store: Store, owner: Owner
) -> None:
    change = int(switch_on(owner, "1 second"))
    made = make(store, EVERYTHING, set_flag("on", "absent", flag=BOOST, reverts_id=change))
    assert made.entry
    with application(address, change=str(made.entry.id)) as test:
        test.session_state[REVERTED] = made
        opened(test)
        assert test.subheader[0].value == f"Change {made.entry.id}"
        assert [each.value for each in test.success] == ["The flag was changed."]
        assert "outcomes_seen" not in [button.key for button in test.button]
        test.button(key="close_change").click().run()
        assert not test.success
        test.query_params["change"] = str(change)
        assert not test.run().success
