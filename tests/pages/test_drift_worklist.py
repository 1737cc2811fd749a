"""Working off Drift Alerts through the page: filters and their address, decisions, hostile names, very long texts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from analysis.drift.alerts import AlertFilter
from analysis.drift.weighing import find_alerts
from jobs.aggregation import refresh
from queries.aggregation_input import AggregationScopes
from queries.engine import Store, make_engine
from queries.scope import Reach, marked
from tests import sample
from tests.drift_store import LOGS, PORTS, RETRIES, add_pair, window
from tests.hostile import TEXTS
from tests.pages.application import application, until
from tests.pages.drift_page import figures, press, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

PAGE = "drift_alerts.py"
HOSTILE = tuple(text for text in TEXTS if len(text) <= 200)


@pytest.fixture(scope="module")
def database(cluster: Cluster, template: str) -> Iterator[str]:
    """Organizations that differ in what they hold, so that one worker serves all tests.

    Acme: three contradictions, aggregated. Drake: hostile names of agents, sessions and projects. Elm: a hundred
    observations of a megabyte each, fifty contradictions.
    """
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        for org, called in (("org_a", "Acme"), ("org_d", "Drake"), ("org_e", "Elm")):
            sample.add_organization(owner, org, called)
        for key, texts, days in (("ports", PORTS, 3), ("logs", LOGS, 40), ("retries", RETRIES, 50)):
            add_pair(owner, "org_a", key, texts, days=days)
        for number, hostile in enumerate(HOSTILE):
            texts = (PORTS[0].replace("dispatch", f"z{number}q"), PORTS[1].replace("dispatch", f"z{number}q"))
            add_pair(owner, "org_d", f"h{number}", texts, hostile, by=hostile)
        owner.execute(
            """insert into observations (org_id, id, project_id, agent_id, content, content_hash, created_at)
               select 'org_e', gen_random_uuid(), 'api', 'agent-' || mod(n, 3),
                      'The z' || n / 2 || 'q collector listens on port ' || 8000 + mod(n, 2) || '. '
                        || repeat('x', 1000000), n, now() - n * interval '1 minute'
                 from generate_series(0, 99) n"""
        )
    store = Store(*(make_engine(cluster.url(login, name), name="passes") for login in ("dash_read", "dash_write")))
    with store.reading(Reach(("org_a",))) as snapshot:
        scopes = AggregationScopes(Reach(("org_a",))).ask(snapshot)
    assert {refresh(store, found).outcome for found in scopes} == {"done"}
    store.close()
    yield name
    cluster.drop(name)


@pytest.fixture(scope="module")
def keeper(cluster: Cluster, database: str) -> Iterator[Owner]:
    with psycopg.connect(cluster.plain_url("postgres", database), autocommit=True) as owner:
        yield owner


@pytest.fixture(scope="module")
def prints(cluster: Cluster, database: str) -> dict[str, tuple[str, ...]]:
    """The fingerprints of each organization, the most harmful first."""
    store = Store(make_engine(cluster.url("dash_read", database), name="prints"))
    orgs = ("org_a", "org_d", "org_e")
    found = {org: find_alerts(store, window(org), AlertFilter(0.5)).fingerprints for org in orgs}
    store.close()
    return found


@pytest.fixture(scope="module")
def started(cluster: Cluster, database: str) -> Iterator[AppTest]:
    patched = pytest.MonkeyPatch()
    patched.setenv("RANKSCOPE_WRITE_URL", cluster.plain_url("dash_write", database))
    with application(cluster.plain_url("dash_read", database)) as test:
        test.run()
        yield test
    patched.undo()


@pytest.fixture
def page(started: AppTest) -> Any:  # noqa: ANN401 - a function
    def show(*, whole: bool = True, **said: str | list[str]) -> AppTest:
        started.query_params.clear()
        for name, value in said.items():
            started.query_params[name] = value
        started.switch_page(PAGE).run()
        if whole:
            until(lambda: started.run().get("download_button") and not started.get("progress"), limit=90)
        assert not started.exception
        return started

    return show


def test_what_the_last_pass_found_is_there_at_once(page: Any) -> None:  # noqa: ANN401 - a function
    """No worker has been started yet: the first run of the page shows the figures, and those of the search agree."""
    test = page(org="org_a", whole=False)
    first = figures(test)
    assert first["Listed"] == ("3", "of 3")
    listed = table(test)
    test = page(org="org_a")
    assert figures(test) == first
    assert table(test).equals(listed)


def test_statements_stand_early_in_the_list(page: Any) -> None:  # noqa: ANN401 - a function
    listed = table(page(org="org_a"))
    assert list(listed)[:7] == ["open", "harm", "older", "newer", "conflict", "state", "both"]
    assert listed.set_index("older").loc[PORTS[0], "conflict"] == "8080 ↔ 9090"
    assert listed["owner"].tolist() == [""] * 3  # a grid writes None where a text is missing


def test_what_a_link_says_and_cannot_be_is_named(page: Any) -> None:  # noqa: ANN401 - a function
    odd = {"t": "0.52", "sev": "101", "state": "new,odd", "kind": "odd", "agent": "x" * 201, "since": "yesterday"}
    test = page(org="org_a", page="first", alert="../x", **odd)
    (told,) = (line.value for line in test.warning)
    named = "Threshold, Minimum severity, State, Kind, Agent, Arose on or after, Page, Opened alert"
    assert told == f"Not understood in this link, and ignored: {named}. The default is shown instead."
    assert figures(test)["Listed"] == ("3", "of 3")
    assert [line.value for line in page(org="org_a", t="0.55", since="2020-02-29").warning] == []


@pytest.mark.parametrize(("broken", "told"), [(("f", "f rom"), "2 unknown parts"), ((" from",), "an unknown part")])
def test_a_name_that_the_page_does_not_know_is_told(page: Any, broken: tuple[str, ...], told: str) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", sev="10", **dict.fromkeys(broken, "2026-01-01"))
    assert [line.value for line in test.warning] == [
        f"Not understood in this link, and ignored: {told}. The default is shown instead."
    ]


@pytest.mark.parametrize("also", [{}, {"t": "7"}], ids=["alone", "beside one that cannot be"])
def test_a_threshold_by_its_whole_name_is_told_by_it(page: Any, also: dict[str, str]) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", threshold="7", **also)
    assert [line.value for line in test.warning] == [
        "Not understood in this link, and ignored: Threshold. The default is shown instead."
    ]


def test_a_page_beyond_the_last_is_told(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", page="99")
    assert [line.value for line in test.warning] == ["This list has fewer pages than the link says: the last is shown."]
    assert len(table(test)) == 3
    assert [line.value for line in page(org="org_a", page="1").warning] == []


def test_alerts_open_without_a_mouse(page: Any, prints: dict[str, tuple[str, ...]]) -> None:  # noqa: ANN401 - a function
    test = press(page(org="org_a"), "Open the first")
    assert test.query_params["alert"] == prints["org_a"][0]
    assert "Open the first" not in [button.label for button in test.button]
    assert {"Previous", "Next", "Close"} <= {button.label for button in test.button}
    offered = test.selectbox(key="choose_alert")
    assert len(offered.options) == 3
    assert sum("8080 ↔ 9090" in option.replace("\u2068", "").replace("\u2069", "") for option in offered.options) == 1
    offered.select_index(2).run()
    assert test.query_params["alert"] == prints["org_a"][2]


def test_the_list_shows_the_page_of_the_alert_that_is_open(page: Any, prints: dict[str, tuple[str, ...]]) -> None:  # noqa: ANN401 - a function
    last, first = prints["org_d"][49:51]

    def shown(test: AppTest) -> tuple[str, bool]:
        """The page that the address names, and whether the open alert has its mark in the list."""
        row = table(test).set_index("fingerprint")["open"].get(test.query_params["alert"])
        return str(test.query_params.get("page", "1")), row == "▸ Open"

    test = press(page(org="org_d", alert=last), "Next")
    assert (test.query_params["alert"], shown(test)) == (first, ("2", True))
    press(test, "Previous")
    assert (test.query_params["alert"], shown(test)) == (last, ("1", True))
    test = page(org="org_d", alert=first)  # a link from elsewhere names no page
    assert shown(test)[1]
    press(test, "Close")
    assert (test.query_params.get("page"), "alert" in test.query_params) == ("2", False)
    assert table(test)["fingerprint"].iloc[0] == first
    assert press(test, "Open the first").query_params["alert"] == first
    test = page(org="org_d", page="2", alert=last)
    assert shown(test)[1]


def test_the_low_list_begins_with_the_alert_that_is_open(page: Any, prints: dict[str, tuple[str, ...]]) -> None:  # noqa: ANN401 - a function
    """Two rows are seen: itself and the next; those before it come last, and nothing of the page is missing."""
    first, second = prints["org_d"][:50], prints["org_d"][50:]
    for place, rows in ((31, first), (1, second), (0, first)):
        test = page(org="org_d", alert=rows[place])
        assert tuple(table(test)["fingerprint"]) == rows[place:] + rows[:place]
        told = next(line.value for line in test.caption if "the open one first" in line.value)
        assert told.endswith(": 1 to 50." if rows is first else f": 51 to {len(HOSTILE)}.")
    for opened, rows, follows in ((second[1], second[2:] + second[:1], True), (second[-1], second[:-1], False)):
        test = press(page(org="org_d", alert=opened), "False positive")
        assert tuple(table(test)["fingerprint"]) == rows
        assert any("the next one first" in line.value for line in test.caption) is follows
        press(page(org="org_d", alert=opened), "Reopen as new")
    assert tuple(table(page(org="org_d"))["fingerprint"]) == first


def test_an_alert_that_leaves_the_list_leaves_its_page_on_show(page: Any, prints: dict[str, tuple[str, ...]]) -> None:  # noqa: ANN401 - a function
    opened, after = prints["org_d"][51:53]
    test = press(page(org="org_d", alert=opened), "False positive")
    assert opened not in set(table(test)["fingerprint"])
    assert after in set(table(test)["fingerprint"])
    assert press(test, "Next").query_params["alert"] == after
    press(page(org="org_d", alert=opened), "Reopen as new")


def test_several_agents_and_a_first_day_stand_in_the_address(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", agent=["agent-older", "nobody, really"])
    assert test.multiselect(key="pick_agent").value == ["agent-older", "nobody, really"]
    assert len(table(test)) == 3
    test.multiselect(key="pick_agent").set_value(["nobody, really"]).run()
    assert test.query_params["agent"] == "nobody, really"
    assert "No alert passes these filters" in test.info[0].value
    test = page(org="org_a", since=f"{sample.TODAY - timedelta(days=10):%Y-%m-%d}")
    assert list(table(test)["older"]) == [PORTS[0]]
    assert "--since=" in test.code[-1].value
    test.date_input(key="pick_since").set_value((sample.TODAY - timedelta(days=45)).date()).run()
    assert len(table(test)) == 2
    test.date_input(key="pick_since").set_value(None).run()
    assert "since" not in test.query_params
    assert len(table(test)) == 3


def test_snooze_reopen_and_owner(page: Any, keeper: Owner, prints: dict[str, tuple[str, ...]]) -> None:  # noqa: ANN401 - a function
    name = prints["org_a"][0]
    test = page(org="org_a", alert=name)
    stored = "select state, version, owner, note, snoozed_until from rankscope.drift_triage where fingerprint = %s"
    next(box for box in test.selectbox if box.label == "Snooze for").set_value(30).run()
    before = datetime.now(UTC)
    press(test, "Snooze")
    row = keeper.execute(stored, (name,)).fetchone()
    assert row is not None
    assert row[:2] == ("snoozed", 1)
    assert timedelta(days=30) <= row[4] - before <= timedelta(days=30, minutes=1)
    assert figures(test)["Listed"] == ("2", "of 3")
    assert any(f"◌ snoozed · until {row[4]:%-d %b %Y}" in line.value for line in test.text)
    for label, text in (("Note", "not now"), ("Owner", "rosa")):
        next(entry for entry in test.text_input if entry.label == label).set_value(text).run()
    press(test, "Save note and owner")
    kept = keeper.execute(stored, (name,)).fetchone()
    assert kept == ("snoozed", 2, "rosa", "not now", row[4]), "a note leaves the snooze where it was"
    press(test, "Reopen as new")
    assert keeper.execute(stored, (name,)).fetchone() == ("new", 3, "rosa", "not now", None)
    assert figures(test)["Listed"] == ("3", "of 3")
    assert any("● new · owner rosa" in line.value for line in test.text)
    told = next(frame.value for frame in test.dataframe if "change" in frame.value)
    assert list(told["change"]) == ["● new", "◌ snoozed", "◌ snoozed"]
    assert keeper.execute("select distinct found_up_to from rankscope.drift_triage").fetchall() == [(1.0,)]


def test_hostile_names_are_shown_and_nothing_else(page: Any, prints: dict[str, tuple[str, ...]]) -> None:  # noqa: ANN401 - a function
    """HOS-1: agents, sessions and projects, in the list, the filters and the opened alert, never as Markdown."""
    assert len(prints["org_d"]) == len(HOSTILE)
    test = page(org="org_d", alert=prints["org_d"][0])
    shown = [*table(test)["project"]]
    while len(shown) < len(HOSTILE):
        test = page(org="org_d", page=str(len(shown) // 50 + 1), alert=prints["org_d"][-1])
        shown += list(table(test)["project"])
    visible = {marked(text) for text in HOSTILE}
    assert sorted(shown) == sorted(visible)
    assert {f"{text} / {text}" for text in table(test)["project"]} == set(table(test)["agents"])
    assert set(test.multiselect(key="pick_agent").options) == visible
    facts = next(frame.value for frame in test.dataframe if "what" in frame.value).set_index("what")
    assert facts.loc["agent", "newer"] == facts.loc["session", "older"]
    assert facts.loc["agent", "newer"] in visible
    sinks = (test.markdown, test.caption, test.info, test.warning, test.error, test.success, test.title, test.subheader)
    said = "\n".join(str(element.value) for kind in sinks for element in kind)
    labels = "\n".join(str(button.label) for button in test.button)
    assert [text for text in HOSTILE if len(text) > 4 and (text in said or text in labels)] == []


@pytest.mark.parametrize("name", ["'; drop table organizations; --", "<script>window.__x='script'</script>"])
def test_a_hostile_agent_can_be_chosen(page: Any, name: str) -> None:  # noqa: ANN401 - a function
    test = page(org="org_d", agent=[name])
    assert list(table(test)["agents"]) == [f"{name} / {name}"]


@pytest.mark.long
def test_a_hundred_megabytes_are_a_small_page(page: Any, prints: dict[str, tuple[str, ...]]) -> None:  # noqa: ANN401 - a function
    """LOAD-10: 100 observations of 1 MB: the list carries parts, an opened alert what it can show."""
    assert len(prints["org_e"]) == 50
    test = page(org="org_e", alert=prints["org_e"][0])
    assert figures(test)["Listed"] == ("50", "of 50")
    elements = [each for each in test.main if hasattr(each, "proto") and hasattr(each.proto, "SerializeToString")]
    assert 200_000 < sum(len(each.proto.SerializeToString()) for each in elements) < 1 << 20
    assert table(test)["older"].str.len().max() <= 302  # 300 characters, and that there are more on either side
    assert any("characters" in line.value for line in test.caption)
