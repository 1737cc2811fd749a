"""Drift Alerts as it stands on the page, against planted contradictions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from analysis.drift.alerts import AlertFilter
from analysis.drift.weighing import find_alerts
from controls.access import Principal
from controls.drift import pairs, triage
from queries.aggregation_input import OppositionPairs
from queries.drift.opposing import digest
from queries.errors import StoreError
from queries.scope import Reach
from ranking import DEFAULT_PAIRS
from tests import sample
from tests.drift_store import LOGS, PORTS, RETRIES, UNRELATED, add_given, add_pair, window
from tests.hostile import TEXTS
from tests.jobs.test_worker import until
from tests.pages.application import application
from tests.scopes import add_observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from streamlit.testing.v1 import AppTest

    from analysis.drift.alerts import Listed
    from queries.engine import Store
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

PAGE = "drift_alerts.py"


@pytest.fixture
def address(cluster: Cluster, store_database: str, owner: Owner, monkeypatch: pytest.MonkeyPatch) -> str:
    """Acme with three contradictions, of which agents were given one; Birch with none."""
    sample.add_organization(owner, "org_a", "Acme")
    sample.add_organization(owner, "org_b", "Birch")
    sample.add_session(owner, "org_b", "s")
    add_observation(owner, "org_b", "alone", UNRELATED)
    add_pair(owner, "org_a", "ports", PORTS)
    add_pair(owner, "org_a", "logs", LOGS, days=40)
    retries = add_pair(owner, "org_a", "retries", RETRIES, days=50)
    for session in range(8):
        sample.add_session(owner, "org_a", f"s{session}")
        add_given(owner, "org_a", f"s{session}", list(retries))
    monkeypatch.setenv("RANKSCOPE_WRITE_URL", cluster.plain_url("dash_write", store_database))
    return cluster.plain_url("dash_read", store_database)


@pytest.fixture
def page(address: str) -> Iterator[Any]:
    with application(address) as test:

        def show(**said: str) -> AppTest:
            for name, value in said.items():
                test.query_params[name] = value
            test.run()
            test.switch_page(PAGE).run()
            until(lambda: (test.run().metric or test.info or test.warning) and not test.get("progress"), limit=90)
            assert not test.exception
            return test

        yield show


def worst(store: Store) -> Listed:
    return find_alerts(store, window("org_a"), AlertFilter(0.5)).listed[0]


def figures(test: AppTest) -> dict[str, tuple[str, str]]:
    return {metric.label: (metric.value, metric.delta) for metric in test.metric}


def table(test: AppTest) -> Any:  # noqa: ANN401 - a frame
    return next(frame.value for frame in test.dataframe if "harm" in frame.value)


def press(test: AppTest, label: str) -> AppTest:
    next(button for button in test.button if button.label == label).click().run()
    assert not test.exception
    return test


def test_figures_and_worklist(page: Any, store: Store) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a")
    assert figures(test) == {
        "Listed": ("3", "of 3"),
        "New": ("3", ""),
        "Reached agents": ("1", "of 3 open"),
        "Both in a session": ("1", "of 3 open"),
        "Confirmed": ("—", "0 of 10 verdicts"),
    }
    rows = table(test)
    assert rows["older"][0] == RETRIES[0]
    assert (rows["both"][0], rows["injected"][0], rows["kind"][0], rows["state"][0]) == (
        "8", "8 / 8", "opposition", "● new",
    )  # fmt: skip
    assert list(rows["harm"]) == sorted(rows["harm"], reverse=True)
    one = worst(store)
    assert rows["harm"][0] == one.harm
    assert dict(one.parts) == {name: rows[name][0] for name in ("recency", "domain", "frequency", "gap")}
    strip = next(line.value for line in test.markdown if "compared" in line.value)
    assert "6 active observations compared" in strip


def test_a_long_statement_is_shown_from_the_words_that_matter(page: Any, owner: Owner) -> None:  # noqa: ANN401 - a function
    """The evidence begins 80 characters in; of the 20 before it the first are half a word, which is left out."""
    ahead = "Decided in the spring review of all services: the relay gateway listens on port "
    texts = (f"{ahead}8080. {'Older words. ' * 30}", f"{ahead}9090.")
    assert (len(ahead), ahead[-20:]) == (80, "way listens on port ")
    add_pair(owner, "org_b", "late", texts)
    (row,) = table(page(org="org_b")).to_dict("records")
    # 300 characters from the 61st on, without the four of "way "
    assert row["older"] == f"…{' '.join(texts[0][64:360].split())}…"
    assert row["newer"] == "…listens on port 9090."


def test_threshold_severity_kind_agent_and_state_narrow(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", t="0.9")
    assert LOGS[0] not in list(table(test)["older"])
    assert figures(test)["Listed"] == ("2", "of 2")
    assert test.slider(key="pick_t").value == 0.9
    test.query_params["t"] = "0.5"
    test.query_params["kind"] = "value"
    assert list(table(test.run())["kind"]) == ["value", "value"]
    test.query_params["sev"] = "50"
    assert list(table(test.run())["older"]) == [PORTS[0]]
    test.query_params["agent"] = "nobody"
    assert "No alert passes these filters" in test.run().info[0].value
    for name in ("agent", "sev", "kind"):
        del test.query_params[name]
    test.query_params["state"] = "resolved,false_positive"
    assert "No alert passes these filters" in test.run().info[0].value
    test.slider(key="pick_t").set_value(0.9).run()
    assert test.query_params["t"] == "0.9"
    for beyond in ("101", "999"):
        test.query_params["sev"] = beyond
        assert not test.run().exception
        assert test.slider(key="pick_sev").value == 0


def test_an_opened_alert_leads_to_its_observation(page: Any, store: Store) -> None:  # noqa: ANN401 - a function
    one = worst(store)
    test = page(org="org_a", alert=one.fingerprint)
    press(test, "Observation")
    assert not test.exception
    assert [title.value for title in test.title] == ["Observation"]
    assert test.query_params["observation"] == one.older.id


def test_an_alert_is_opened_decided_and_leaves_the_list(page: Any, store: Store, owner: Owner) -> None:  # noqa: ANN401 - a function
    one = worst(store)
    test = page(org="org_a", alert=one.fingerprint)
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
    assert any("✓ resolved · the newer is right" in line.value for line in test.text)
    stored = owner.execute("select state, verdict, version, note, found_up_to from rankscope.drift_triage").fetchall()
    assert stored == [("resolved", "newer", 1, "![x](http://127.0.0.1:9/beacon)", 1.0)]
    history = next(frame.value for frame in test.dataframe if "change" in frame.value)
    assert list(history["change"]) == ["✓ resolved: the newer is right"]
    owner.execute("update observations set content = content || ' Since May.' where content = %s", (RETRIES[1],))
    again = worst(store)
    test = page(org="org_a", alert=again.fingerprint)
    until(lambda: figures(test.run()).get("New") == ("3", "1 reopened"), limit=60)
    assert any("↻ A text has changed since" in line.value for line in test.text)
    assert owner.execute("select count(*) from observations").fetchone() == (7,)


def test_a_decision_is_undone_with_its_note(page: Any, store: Store, owner: Owner) -> None:  # noqa: ANN401 - a function
    one = worst(store)
    test = page(org="org_a", alert=one.fingerprint)
    next(entry for entry in test.text_input if entry.label == "Note").set_value("asked the team").run()
    press(test, "Acknowledge")
    press(test, "False positive")
    kept = "select state, verdict, version, note from rankscope.drift_triage"
    assert owner.execute(kept).fetchall() == [("false_positive", None, 2, "asked the team")]
    press(test, "Undo")
    assert owner.execute(kept).fetchall() == [("acknowledged", None, 3, "asked the team")]
    assert [told.value for told in test.success] == ["Saved."]
    owner.execute("update rankscope.drift_triage set version = 4, state = 'investigating', changed_by = 'pia'")
    assert "Undo" not in [button.label for button in test.run().button]  # someone else decided since


def test_whoever_was_slower_is_told_who_was_faster(page: Any, store: Store, owner: Owner) -> None:  # noqa: ANN401 - a function
    one = worst(store)
    test = page(org="org_a", alert=one.fingerprint)

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


def test_without_tables_of_our_own_alerts_are_read_only(page: Any, owner: Owner, store: Store) -> None:  # noqa: ANN401 - a function
    one = worst(store)
    owner.execute("drop schema rankscope cascade")
    assert worst(store) == one
    test = page(org="org_a", alert=one.fingerprint)
    assert figures(test)["New"] == ("3", "")
    assert any("Alerts can be seen and not triaged here: this store has no tables" in info.value for info in test.info)
    assert "Acknowledge" not in [button.label for button in test.button]


def test_a_store_of_an_older_revision_is_shown_and_named(page: Any, owner: Owner, store: Store) -> None:  # noqa: ANN401 - a function
    """What the fifth revision added is gone: states are read all the same, nothing can be decided or changed."""
    one = worst(store)
    owner.execute(
        """insert into rankscope.drift_triage (org_id, fingerprint, state, changed_by)
           values ('org_a', %s, 'acknowledged', 'me')""",
        (one.fingerprint,),
    )
    owner.execute("drop table rankscope.opposition_changes cascade")
    owner.execute("alter table rankscope.drift_triage_events drop column owner, drop column snoozed_until cascade")
    columns = ("older", "newer", "kind", "found_up_to")
    for name in columns:
        owner.execute(f"alter table rankscope.drift_triage drop column {name} cascade")
    test = page(org="org_a", alert=one.fingerprint)
    assert figures(test)["New"] == ("2", "")
    assert list(table(test)["state"]) == ["◐ acknowledged", "● new", "● new"]
    strip = next(line.value for line in test.markdown if "compared" in line.value)
    for name in (*(f"drift_triage.{name}" for name in columns), "drift_triage_events.owner", "opposition_changes"):
        assert name in strip
    assert "alerts cannot be decided about; opposition pairs cannot be changed" in strip
    assert any("not triaged here: this store is of an older revision" in info.value for info in test.info)
    assert "Acknowledge" not in [button.label for button in test.button]
    test.session_state["pairs_open"] = True
    test.run()
    assert not test.exception
    assert "Save pairs" not in [button.label for button in test.button]
    assert any(list(frame.value.columns) == ["one", "other"] for frame in test.dataframe)


def test_verdicts_make_the_precision_curve(page: Any, owner: Owner) -> None:  # noqa: ANN401 - a function
    owner.execute(
        """insert into rankscope.drift_triage (org_id, fingerprint, state, verdict, changed_by, found_up_to)
           select 'org_a', 'p' || n, case when n % 4 = 0 then 'false_positive' else 'resolved' end,
                  case when n % 4 = 0 then null else 'newer' end, 'me', case when n <= 8 then 0.6 else 1 end
             from generate_series(1, 20) n"""
    )
    test = page(org="org_a")
    assert figures(test)["Confirmed"] == ("75 %", "of 20 judged")
    curve = next(
        json.loads(chart.proto.spec) for chart in test.get("plotly_chart") if "confirmed" in chart.proto.spec[-3000:]
    )
    assert "75% confirmed (53%–89%, n = 20)" in json.dumps(curve, ensure_ascii=False)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"org": "org_b"}, "No two statements of this scope contradict each other"),
        ({}, "inside one organization. Choose one here or in the sidebar."),
    ],
    ids=["nothing", "no organization"],
)
def test_nothing_to_show_is_said(page: Any, said: dict[str, str], expected: str) -> None:  # noqa: ANN401 - a function
    assert expected in page(**said).info[0].value


def test_unknown_and_foreign_alerts_look_the_same(page: Any, store: Store) -> None:  # noqa: ANN401 - a function
    test = page(org="org_b", alert=worst(store).fingerprint)
    foreign = [line.value for line in test.warning]
    test.query_params["alert"] = "f" * 32
    assert [line.value for line in test.run().warning] == foreign
    assert "No such alert" in foreign[0]


def test_hostile_texts(page: Any, owner: Owner) -> None:  # noqa: ANN401 - a function
    for number, hostile in enumerate(TEXTS[:20]):
        subject = f"The z{number}q collector listens on port"
        add_pair(owner, "org_b", f"h{number}", (f"{subject} 8080. {hostile}", f"{subject} 9090. {hostile}"))
    test = page(org="org_b")
    assert len(table(test)) > 15
    markdown = " ".join([*(line.value for line in test.markdown), *(line.value for line in test.caption)])
    assert not any(text in markdown for text in TEXTS[:20])
    shown = " ".join(table(test)["older"])
    assert sum(" ".join(text.split()) in shown for text in TEXTS[:20]) > 10
