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
from tests.drift_store import PORTS, add_pair, window
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
