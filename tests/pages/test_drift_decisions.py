"""What is decided about an alert on the page: saved, undone, too late, refused, or failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from controls.access import Principal
from controls.drift import pairs, triage
from queries.aggregation_input import OppositionPairs
from queries.drift.opposing import digest
from queries.errors import StoreError
from queries.scope import Reach
from ranking import DEFAULT_PAIRS
from tests.drift_store import PORTS, RETRIES
from tests.pages.application import application, until
from tests.pages.drift_page import figures, press, worst
from tests.scopes import add_observation

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from tests.pages.drift_page import Show

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_writing", "_contradictions")


def test_an_alert_is_opened_decided_and_leaves_the_list(drift_page: Show, store: Store, owner: Owner) -> None:
    one = worst(store)
    test = drift_page(org="org_a", alert=one.fingerprint)
    texts = [line.value for line in test.text]
    assert any("Shown by “required” against “optional”" in text for text in texts)
    assert [code.value for code in test.code][: len(RETRIES)] == list(RETRIES)
    facts = next(frame.value for frame in test.dataframe if "what" in frame.value).set_index("what")
    assert facts.loc["agent", "newer"] == "agent-newer"
    assert facts.loc["injected, 30 days", "older"] == "8 times"
    next(entry for entry in test.text_input if entry.label == "Note").set_value("![x](http://127.0.0.1:9/beacon)").run()
    press(test, "Resolve: newer is right")
    assert [told.value for told in test.success] == ["Saved."]
    assert figures(test)["Listed"] == ("2", "of 3")
    captions = [line.value for line in test.caption]
    assert "filtered out of list and files" in captions
    assert any("Each file holds 2 alerts: every one that is listed with both" in line for line in captions)
    assert any("decisions as of now" in line.value for line in test.markdown)
    assert any("✓ resolved · the newer is right" in line.value for line in test.text)
    stored = owner.execute("select state, verdict, version, note, found_up_to from rankscope.drift_triage").fetchall()
    assert stored == [("resolved", "newer", 1, "![x](http://127.0.0.1:9/beacon)", 1.0)]
    history = next(frame.value for frame in test.dataframe if "change" in frame.value)
    assert list(history["change"]) == ["✓ resolved: the newer is right"]
    owner.execute("update observations set content = content || ' Since May.' where content = %s", (RETRIES[1],))
    again = worst(store)
    test = drift_page(org="org_a", alert=again.fingerprint)
    until(lambda: figures(test.run()).get("New") == ("3", "1 reopened"), limit=60)
    assert any("↻ A text has changed since" in line.value for line in test.text)
    assert owner.execute("select count(*) from observations").fetchone() == (7,)


def test_nobody_owns_what_nobody_decided_about(drift_page: Show, store: Store, owner: Owner) -> None:
    """The field is empty and says who will; a decision makes whoever takes it the owner, an undo nobody again."""
    test = drift_page(org="org_a", alert=worst(store).fingerprint)
    (field,) = [entry for entry in test.text_input if entry.label == "Owner"]
    assert (field.value, field.placeholder) == ("", "you, with a decision")
    press(test, "Acknowledge")
    kept = "select owner, changed_by from rankscope.drift_triage"
    ((name, actor),) = owner.execute(kept).fetchall()
    assert name == actor
    (field,) = [entry for entry in test.text_input if entry.label == "Owner"]
    assert (field.value, field.placeholder) == (name, "")
    press(test, "Undo")
    assert owner.execute(kept).fetchall() == [(None, actor)]


def test_a_decision_is_undone_with_its_note(drift_page: Show, store: Store, owner: Owner) -> None:
    one = worst(store)
    test = drift_page(org="org_a", alert=one.fingerprint)
    next(entry for entry in test.text_input if entry.label == "Note").set_value("asked the team").run()
    press(test, "Acknowledge")
    press(test, "False positive")
    kept = "select state, verdict, version, note from rankscope.drift_triage"
    assert owner.execute(kept).fetchall() == [("false_positive", None, 2, "asked the team")]
    press(test, "Undo")
    assert owner.execute(kept).fetchall() == [("acknowledged", None, 3, "asked the team")]
    assert [told.value for told in test.success] == ["False positive: undone."]
    assert "Undo" not in [button.label for button in test.button]
    press(test, "Save note and owner")
    owner.execute("update rankscope.drift_triage set version = 5, state = 'investigating', changed_by = 'pia'")
    assert "Undo" not in [button.label for button in test.run().button]  # someone else decided since


def test_an_owner_is_read_letter_by_letter(drift_page: Show, store: Store) -> None:
    test = drift_page(org="org_a", alert=worst(store).fingerprint)
    next(entry for entry in test.text_input if entry.label == "Owner").set_value("team \u202eagloh").run()
    press(test, "Acknowledge")
    assert any("owner team ⟦U+202E⟧agloh · by " in line.value for line in test.text)


def test_pairs_that_share_an_observation_are_listed_as_one_dispute(drift_page: Show, owner: Owner) -> None:
    add_observation(owner, "org_a", "third port", PORTS[0].replace("8080", "7070"), "api", agent_id="agent-third")
    test = drift_page(org="org_a")
    until(lambda: figures(test.run()).get("Listed") == ("5", "of 5"), limit=60)
    assert "5 alerts in 3 disputes, the most harmful first." in [line.value for line in test.caption]


def test_whoever_was_slower_is_told_who_was_faster(drift_page: Show, store: Store, owner: Owner) -> None:
    one = worst(store)
    test = drift_page(org="org_a", alert=one.fingerprint)

    def noted(*said: str) -> None:
        for label, text in zip(("Note", "Owner"), said, strict=True):
            next(entry for entry in test.text_input if entry.label == label).set_value(text).run()

    owner.execute(
        """with made as (insert into rankscope.drift_triage (org_id, fingerprint, state, changed_by)
             values ('org_a', %(f)s, 'investigating', 'pia') returning 1)
           insert into rankscope.drift_triage_events (org_id, request_id, fingerprint, old_state, new_state, actor)
             select 'org_a', gen_random_uuid(), %(f)s, 'new', 'investigating', 'pia' from made""",
        {"f": one.fingerprint},
    )
    press(test, "False positive")
    assert "Nothing was saved: someone else was faster" in test.warning[0].value
    assert any("new → investigating by pia" in line.value for line in test.text)
    assert owner.execute("select state, version from rankscope.drift_triage").fetchall() == [("investigating", 1)]
    noted("asked the team", "rosa")
    press(test, "Save note and owner")
    kept = "select state, version, note, owner from rankscope.drift_triage"
    assert owner.execute(kept).fetchall() == [("investigating", 2, "asked the team", "rosa")]
    press(test, "False positive")  # which leaves the note that stands
    assert owner.execute(kept).fetchall() == [("false_positive", 3, "asked the team", "rosa")]


def test_a_viewer_is_refused_in_the_write_itself(
    address: str,
    store: Store,
    owner: Owner,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = worst(store)
    viewer = Principal("vera", "viewer", frozenset({"org_a"}), "test")
    monkeypatch.setattr("controls.access.current_principal", lambda: viewer)
    with application(address):
        told = triage.decide(("org_a", one, 0.5, uuid4(), "v"), "acknowledged", None)
        saved = pairs.save("org_a", digest(()), (("hot", "cold"),), DEFAULT_PAIRS, uuid4())
        operator = Principal("omar", "operator", frozenset({"org_a"}), "test")
        monkeypatch.setattr("controls.access.current_principal", lambda: operator)
        seen = ("org_a", one, 0.5, uuid4(), "v")
        long = triage.decide(seen, "acknowledged", None, note="x" * 2001)
        owned = triage.decide(seen, "acknowledged", None, owner="x" * 201)
    assert (told.kind, saved.kind) == ("refused", "refused")
    assert (long.kind, owned.kind) == ("refused", "refused")
    assert "at most 2000 characters" in long.sentence
    assert owner.execute("select count(*) from rankscope.drift_triage").fetchone() == (0,)
    with store.reading(Reach(("org_a",))) as snapshot:
        assert OppositionPairs("org_a").ask(snapshot) == ()


def test_a_store_that_cannot_tell_who_asks_is_an_outcome_of_every_change(
    address: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A button's callback runs outside the page, so nothing may be raised there."""
    one = worst(store)

    def asked() -> Principal:
        raise StoreError("lost", "The database is not answering.")

    monkeypatch.setattr("controls.access.current_principal", asked)
    with application(address):
        told = triage.decide(("org_a", one, 0.5, uuid4(), "v"), "acknowledged", None)
        saved = pairs.save("org_a", digest(()), (("hot", "cold"),), DEFAULT_PAIRS, uuid4())
    assert (told.kind, saved.kind) == ("failed", "failed")
    assert told.sentence == saved.sentence == "Nothing was saved. The database is not answering."
