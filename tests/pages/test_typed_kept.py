"""What someone typed on a page is there again where someone else was faster or the store failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from analysis.drift.alerts import AlertFilter
from analysis.drift.weighing import find_alerts
from controls.flags.confirm import SENT, Sent, Staged
from queries.once import make
from queries.scope import Reach
from tests import sample
from tests.drift_store import LOGS, PORTS, add_pair, window
from tests.pages.application import application, until
from tests.pages.drift_page import press
from tests.queries.flags.flag_store import WEIGHTING

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    from queries.engine import Store
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

ELSEWHERE = """
    with made as (
      insert into rankscope.drift_triage as mine (org_id, fingerprint, state, changed_by, note)
      values ('org_a', %(f)s, 'investigating', 'pia', 'mine to look at')
      on conflict (org_id, fingerprint) do update set version = mine.version + 1, note = 'and again'
      returning 1)
    insert into rankscope.drift_triage_events (org_id, request_id, fingerprint, old_state, new_state, actor)
    select 'org_a', gen_random_uuid(), %(f)s, 'new', 'investigating', 'pia' from made"""


@pytest.fixture
def address(cluster: Cluster, store_database: str, owner: Owner, monkeypatch: pytest.MonkeyPatch) -> str:
    sample.add_organization(owner, "org_a", "Acme")
    add_pair(owner, "org_a", "ports", PORTS)
    monkeypatch.setenv("RANKSCOPE_WRITE_URL", cluster.plain_url("dash_write", store_database))
    return cluster.plain_url("dash_read", store_database)


def opened(test: AppTest, page: str) -> AppTest:
    test.run()
    test.switch_page(page).run()
    until(lambda: (test.run().metric or test.info) and not test.get("progress"), limit=90)
    assert not test.exception
    return test


def fields(test: AppTest) -> tuple[str, str, str]:
    note, owner = (next(field for field in test.text_input if field.label == label) for label in ("Note", "Owner"))
    days = next(field for field in test.selectbox if field.label == "Snooze for")
    return str(note.value), str(owner.value), days.format_func(days.value)


def typed(test: AppTest, note: str) -> AppTest:
    next(field for field in test.text_input if field.label == "Note").set_value(note)
    return test


def test_a_note_outlives_a_decision_of_someone_else(address: str, store: Store, owner: Owner) -> None:
    alert = find_alerts(store, window("org_a"), AlertFilter(0.5)).listed[0].fingerprint
    with application(address, org="org_a", alert=alert) as test:
        opened(test, "drift_alerts.py")
        before = fields(test)
        owner.execute(ELSEWHERE, {"f": alert})
        next(field for field in test.selectbox if field.label == "Snooze for").set_value(30)
        press(typed(test, "asked the team"), "False positive")
        assert test.warning[0].value.startswith("Nothing was saved: someone else was faster")
        assert fields(test) == ("asked the team", before[1], "30 days")
        assert any(line.value == "Note: mine to look at" for line in test.text)
        owner.execute(ELSEWHERE, {"f": alert})  # found by the run that typing causes, before any click
        typed(test, "asked the team twice").run()
        assert fields(test) == ("asked the team twice", before[1], "30 days")
        press(test, "False positive")
        (*kept, whose) = owner.execute("select state, note, version, owner from rankscope.drift_triage").fetchall()[0]
        assert kept == ["false_positive", "asked the team twice", 3]
        owner.execute(ELSEWHERE, {"f": alert})
        assert fields(test.run()) == ("and again", whose, "1 week")  # what is saved is no draft any more


def test_alerts_whose_names_begin_alike_share_no_note(address: str, store: Store) -> None:
    alert = find_alerts(store, window("org_a"), AlertFilter(0.5)).listed[0].fingerprint
    with application(address, org="org_a", alert=alert) as test:
        keys = [str(key) for key in opened(test, "drift_alerts.py").session_state]
    named = [key for key in keys if key.startswith(("triage_note_", "triage_owner_", "triage_request_"))]
    assert {key.split("_")[1] for key in named} == {"note", "owner", "request"}
    assert all(alert in key for key in named)


@pytest.mark.parametrize("dismissed", [True, False])
def test_a_reason_is_there_again_for_a_change_that_was_not_made(
    address: str, owner: Owner, store: Store, *, dismissed: bool
) -> None:
    late = Staged("org_a", "Acme", WEIGHTING, "off", "on", uuid4())
    sent = Sent([late], "the team agreed")
    sent.outcomes.append(make(store, Reach(("org_a",)), late.said("the team agreed", "omar")))
    sent.over.set()
    assert sent.outcomes[0].kind == "conflict"
    with application(address, target="org_a", flag=WEIGHTING, state="on") as test:
        test.session_state[SENT] = sent
        opened(test, "feature_flags.py")
        if dismissed:
            press(test, "Done")
        press(test, "Review 1 change")
        assert test.text_area(key="flag_reason").value == "the team agreed"
    assert owner.execute("select count(*) from rankscope.flag_changes").fetchone() == (0,)


def test_a_reason_of_another_change_is_not_offered(address: str, store: Store) -> None:
    other = Staged("org_a", "Acme", WEIGHTING, "on", "off", uuid4())
    sent = Sent([other], "the team agreed")
    sent.outcomes.append(make(store, Reach(("org_a",)), other.said("the team agreed", "omar")))
    sent.over.set()
    with application(address, target="org_a", flag=WEIGHTING, state="on") as test:
        test.session_state[SENT] = sent
        press(opened(test, "feature_flags.py"), "Review 1 change")
        assert test.text_area(key="flag_reason").value == ""


def asked_again(owner: Owner) -> list[tuple[Any, ...]]:
    return owner.execute("select state, verdict, note, owner from rankscope.drift_triage").fetchall()


def test_what_was_typed_for_an_undone_decision_goes_along_with_the_next(
    address: str, store: Store, owner: Owner
) -> None:
    alert = find_alerts(store, window("org_a"), AlertFilter(0.5)).listed[0].fingerprint
    with application(address, org="org_a", alert=alert) as test:
        typed(opened(test, "drift_alerts.py"), "asked the team").run()
        next(field for field in test.text_input if field.label == "Owner").set_value("rosa").run()
        next(field for field in test.selectbox if field.label == "Snooze for").set_value(30).run()
        press(test, "Acknowledge")
        assert asked_again(owner) == [("acknowledged", None, "asked the team", "rosa")]
        press(test, "Undo")
        assert asked_again(owner) == [("new", None, "", None)]
        assert fields(test) == ("asked the team", "rosa", "30 days")
        assert fields(test.run()) == ("asked the team", "rosa", "30 days")
        press(test, "Resolve: newer is right")
        assert asked_again(owner) == [("resolved", "newer", "asked the team", "rosa")]
        assert fields(test.run()) == ("asked the team", "rosa", "1 week")  # of the store: nothing is a draft any more


def test_an_undo_gives_back_a_note_beside_the_one_that_stood_before(address: str, store: Store, owner: Owner) -> None:
    alert = find_alerts(store, window("org_a"), AlertFilter(0.5)).listed[0].fingerprint
    with application(address, org="org_a", alert=alert) as test:
        press(typed(opened(test, "drift_alerts.py"), "asked the team").run(), "Acknowledge")
        whose = asked_again(owner)[0][3]
        press(typed(test, "the team agreed").run(), "False positive")
        press(test, "Undo")
        assert asked_again(owner) == [("acknowledged", None, "asked the team", whose)]
        assert fields(test)[:2] == ("the team agreed", whose)
        assert any(line.value == "Note: asked the team" for line in test.text)


def test_what_was_typed_since_a_decision_is_not_replaced_by_its_undo(address: str, store: Store, owner: Owner) -> None:
    alert = find_alerts(store, window("org_a"), AlertFilter(0.5)).listed[0].fingerprint
    with application(address, org="org_a", alert=alert) as test:
        press(typed(opened(test, "drift_alerts.py"), "asked the team").run(), "Acknowledge")
        typed(test, "asked another team").run()
        press(test, "Undo")
        assert fields(test)[0] == "asked another team"
        assert asked_again(owner) == [("new", None, "", None)]


def test_an_undo_gives_nothing_back_to_another_alert_and_takes_nothing_from_it(
    address: str, store: Store, owner: Owner
) -> None:
    add_pair(owner, "org_a", "logs", LOGS, days=40)
    one, other = (each.fingerprint for each in find_alerts(store, window("org_a"), AlertFilter(0.5)).listed)
    with application(address, org="org_a", alert=one) as test:
        opened(test, "drift_alerts.py")
        press(test, "Next")
        assert test.query_params["alert"] == other
        press(typed(test, "of the other").run(), "Previous")
        press(typed(test, "of the one").run(), "Acknowledge")
        press(test, "Undo")
        assert fields(test)[0] == "of the one"
        press(test, "Next")
        assert fields(test)[0] == "of the other"
        press(test, "Previous")
        assert fields(test)[0] == "of the one"


def test_an_undo_that_came_too_late_gives_nothing_back(address: str, store: Store, owner: Owner) -> None:
    alert = find_alerts(store, window("org_a"), AlertFilter(0.5)).listed[0].fingerprint
    with application(address, org="org_a", alert=alert) as test:
        press(typed(opened(test, "drift_alerts.py"), "asked the team").run(), "Acknowledge")
        owner.execute(ELSEWHERE, {"f": alert})  # found by the click alone
        press(test, "Undo")
        assert test.warning[0].value.startswith("Nothing was saved: someone else was faster")
        assert fields(test)[0] == "and again"
