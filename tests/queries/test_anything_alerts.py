"""Finding alerts by words of what contradicts each other: whose, in which order, among how many, and as what."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from queries.anything import questions
from queries.found import FOUND
from queries.found_alerts import CHARACTERS_READ, AlertsOf, ToldAlerts
from queries.scope import EVERYTHING, Reach, Scope
from tests import sample
from tests.drift_store import LOGS, PORTS, RETRIES, add_pair
from tests.jobs.aggregated import passed

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

TODAY = sample.TODAY.date()
EXPORTER = (
    "The embargo exporter sends licences to the office every 10 minutes.",
    "The embargo exporter sends licences to the office every 45 minutes.",
)


def scope(*orgs: str, chosen: str | None = None) -> Scope:
    reach = Reach.of(frozenset(orgs)) if orgs else EVERYTHING
    return Scope.of_days(reach, TODAY - timedelta(days=6), TODAY, chosen)


def found(store: Store, words: str, asked: Scope) -> list[tuple[str, str]]:
    """Organization and name of each alert found by its words."""
    question = questions(asked, words)["alert"]
    assert isinstance(question, ToldAlerts)
    frame = store.ask(question)
    return list(zip(frame["org_id"], frame["name"], strict=True))


def expected(owner: Owner, words: str, *orgs: str) -> list[str]:
    """The fingerprints of the standing alerts of which a text holds the words, the most severe first."""
    rows = owner.execute(
        """select c.fingerprint, o.content, n.content, c.severity, c.org_id, r.project_id, c.run_id
             from rankscope.contradictions c join rankscope.aggregation_runs r on r.id = c.run_id
             join observations o on o.id = c.older join observations n on n.id = c.newer"""
    ).fetchall()
    last: dict[Any, int] = {}
    for *_, org, project, run in rows:
        last[org, project] = max(last.get((org, project), 0), run)
    holds = [
        (-severity, fingerprint)
        for fingerprint, older, newer, severity, org, project, run in rows
        if org in orgs and last[org, project] == run and words.lower() in f"{older}\n{newer}".lower()
    ]
    return [fingerprint for _, fingerprint in sorted(holds)]


@pytest.fixture
def exporters(store: Store, owner: Owner) -> tuple[str, str]:
    """Two organizations alike, each with four contradictions in two projects; the two observations of org_a's first."""
    sides = {}
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
        owner.execute("insert into projects (org_id, id, name) values (%s, 'web', 'Web')", (org,))
        sides[org] = add_pair(owner, org, "exporter", EXPORTER)
        add_pair(owner, org, "ports", PORTS, days=20)
        add_pair(owner, org, "logs", LOGS, days=40)
        add_pair(owner, org, "retries", RETRIES, "web", days=30)
        passed(store, org)
        passed(store, org, "web")
    return sides["org_a"]


@pytest.mark.parametrize("words", ["embargo exporter", "EVERY 45 minutes", "the", "exports", "8080", "no such words"])
@pytest.mark.usefixtures("exporters")
def test_a_part_of_either_text_finds_it_the_most_severe_first(store: Store, owner: Owner, words: str) -> None:
    for asked, orgs in (
        (scope(), ("org_a", "org_b")),
        (scope("org_b"), ("org_b",)),
        (scope(chosen="org_a"), ("org_a",)),
        (scope("org_c"), ()),
    ):
        frame = store.ask(ToldAlerts(asked, words))
        assert sorted(frame["id"]) == sorted(expected(owner, words, *orgs))
        severities = dict(owner.execute("select fingerprint, severity from rankscope.contradictions").fetchall())
        assert [severities[id_] for id_ in frame["id"]] == sorted(
            (severities[id_] for id_ in frame["id"]), reverse=True
        )
        assert set(frame["org_id"]) <= set(orgs)


@pytest.mark.usefixtures("exporters")
def test_it_is_named_by_what_it_says_and_tells_when_and_where_it_arose(store: Store) -> None:
    frame = store.ask(ToldAlerts(scope("org_a"), "embargo EXPORTER"))
    assert frame["name"].tolist() == [f"{EXPORTER[0]} · every 10 minutes ↔ every 45 minutes"]
    assert frame["at"].tolist() == [sample.TODAY - timedelta(days=3)]
    assert frame["project"].tolist() == ["api"]
    assert found(store, "45 minutes", scope("org_a")) == [
        ("org_a", f"{EXPORTER[1]} · every 10 minutes ↔ every 45 minutes")
    ]
    (id_,) = frame["id"]
    by_id = store.ask(questions(scope(), id_)["alert"])
    assert by_id.to_dict("records") == frame.to_dict("records")


@pytest.mark.parametrize(
    "words", ["%", "embargo%exporter", "embargo_exporter", "\\", "/"], ids=["any", "some", "one", "escape", "ours"]
)
@pytest.mark.usefixtures("exporters")
def test_signs_of_a_pattern_are_letters(store: Store, words: str) -> None:
    assert found(store, words, scope()) == []


def test_signs_that_stand_in_a_text_find_it(store: Store, owner: Owner) -> None:
    sample.add_organization(owner, "org_a")
    one, other = (f"The quota_job keeps 10% in A\\B for {days} days." for days in (30, 90))
    add_pair(owner, "org_a", "quota", (one, other))
    passed(store, "org_a")
    for words in ("a_job", "QUOTA_job", "10% in", "a\\b"):
        assert len(found(store, words, scope())) == 1
    assert found(store, "quota%job", scope()) == []


@pytest.mark.parametrize(
    "change",
    [
        "update observations set status = 'archived' where id = %s",
        "update observations set content = 'The embargo exporter is gone.' where id = %s",
        "delete from observations where id = %s",
    ],
    ids=["archived", "changed", "deleted"],
)
@pytest.mark.parametrize("side", [0, 1], ids=["older", "newer"])
def test_what_one_side_no_longer_says_contradicts_nothing(
    store: Store, owner: Owner, exporters: tuple[str, str], side: int, change: str
) -> None:
    (before,) = store.ask(ToldAlerts(scope("org_a"), "embargo exporter"))["id"]
    owner.execute(change.encode(), (exporters[side],))
    assert found(store, "embargo exporter", scope("org_a")) == []
    by_id = store.ask(AlertsOf(scope("org_a"), before))
    assert len(by_id) == 1
    name = by_id["name"].iloc[0]
    if "archived" in change:
        assert name.startswith(EXPORTER[0])
    else:
        assert name.startswith("value contradiction, severity ")


def test_an_alert_that_the_last_pass_of_its_project_no_longer_found_is_gone(
    store: Store, owner: Owner, exporters: tuple[str, str]
) -> None:
    """And one of another project, or under a failed pass, stays."""
    owner.execute("update observations set status = 'archived' where id = %s", (exporters[0],))
    passed(store, "org_a")
    owner.execute("update observations set status = 'active' where id = %s", (exporters[0],))
    assert found(store, "embargo exporter", scope("org_a")) == []
    owner.execute(
        "insert into rankscope.aggregation_runs (org_id, project_id, state, data_version) values ('org_a', 'web', "
        "'failed', '')"
    )
    assert len(found(store, "manifest", scope("org_a"))) == 1
    assert len(found(store, "listens on", scope("org_a"))) == 1


@pytest.mark.usefixtures("exporters")
def test_no_more_are_looked_through_than_the_bound(store: Store, owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of five in all, two organizations have their two most severe each; one that is chosen has all four."""
    every = {org: expected(owner, "", org) for org in ("org_a", "org_b")}
    assert [len(each) for each in every.values()] == [4, 4]
    owner.execute(  # as they would lie in the table if a pass had not stored the most severe first
        """with every as (delete from rankscope.contradictions returning *)
           insert into rankscope.contradictions select * from every order by severity"""
    )
    monkeypatch.setattr("queries.found_alerts.ALERTS_LOOKED_THROUGH", 5)
    assert set(store.ask(ToldAlerts(scope(), "e"))["id"]) == {*every["org_a"][:2], *every["org_b"][:2]}
    assert store.ask(ToldAlerts(scope(chosen="org_a"), "e"))["id"].tolist() == every["org_a"]
    sample.add_organization(owner, "org_none")
    assert set(store.ask(ToldAlerts(scope(), "e"))["id"]) == {*every["org_a"][:2], *every["org_b"][:2]}
    monkeypatch.setattr("queries.found_alerts.ALERTS_LOOKED_THROUGH", 1)
    assert set(store.ask(ToldAlerts(scope(), "e"))["id"]) == {every["org_a"][0], every["org_b"][0]}


def test_one_more_than_is_listed_is_asked_for_and_no_more(store: Store, owner: Owner) -> None:
    sample.add_organization(owner, "org_a")
    for number in range(FOUND + 3):
        port = f"The api of depot{chr(97 + number)}{chr(97 + number)}x listens on port"
        add_pair(owner, "org_a", f"pair-{number}", (f"{port} 8080.", f"{port} 9090."))
    passed(store, "org_a")
    assert len(found(store, "listens", scope())) == FOUND + 1


def test_of_a_long_text_the_beginning_is_read_and_what_is_found_further_on_is_shown(store: Store, owner: Owner) -> None:
    sample.add_organization(owner, "org_a")
    filler = "nothing of note happened on the quay that morning. " * 10
    texts = (f"{PORTS[0]} {filler}A heron stood there. {filler * 3} A stork came late.", PORTS[1])
    add_pair(owner, "org_a", "ports", texts)
    assert texts[0].index("stork") > CHARACTERS_READ
    passed(store, "org_a")
    ((_, name),) = found(store, "a heron stood", scope())
    told = name.partition(" · ")[0]
    assert told.startswith("…")
    assert told.index("A heron stood there.") < 60
    assert len(told) <= 200
    assert found(store, "stork", scope()) == []
    ((_, name),) = found(store, "9090", scope())
    assert name.startswith(PORTS[1])


def test_a_store_without_a_pass_or_without_anything_finds_none(store: Store, owner: Owner) -> None:
    assert found(store, "embargo exporter", scope()) == []
    sample.add_organization(owner, "org_a")
    add_pair(owner, "org_a", "exporter", EXPORTER)
    assert found(store, "embargo exporter", scope()) == []


def test_the_key_of_a_result_is_walked_no_further_than_the_bound(
    store: Store, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three thousand alerts each of three organizations; with the bound at thirty, ten of each are read and no more."""
    monkeypatch.setattr("queries.found_alerts.ALERTS_LOOKED_THROUGH", 30)
    for org in ("org_a", "org_b", "org_c"):
        sample.add_organization(owner, org)
        ids = sample.add_observations(owner, org, 2)
        owner.execute(
            """with run as (insert into rankscope.aggregation_runs (org_id, project_id, state, data_version)
                 values (%(org)s, 'api', 'done', 'v') returning id)
               insert into rankscope.contradictions (org_id, run_id, place, fingerprint, older, newer, kind, rule,
                 overlap, severity, parts, evidence)
               select %(org)s, run.id, n, n::text, %(one)s, %(two)s, 'value', 'r', 0.5, 100 - n / 100.0, '{}', '[]'
                 from run, generate_series(0, 2999) n""",
            {"org": org, "one": ids[0], "two": ids[1]},
        )
    owner.execute("vacuum analyze")
    statement = ToldAlerts(scope(), "no such words").statement()
    with store.reading(EVERYTHING) as connection:
        said = str(statement.compile(store.reader, compile_kwargs={"literal_binds": True}))
        said = said.replace(":", "\\:")
        plan = [row[0] for row in connection.execute(sa.text(f"explain (analyze, costs off) {said}"))]
    counted, walked = sorted(line.strip() for line in plan if " on contradictions" in line)
    assert "Index Only Scan using contradictions_pkey" in counted
    assert "rows=11.00 loops=3" in counted
    assert "Index Scan using contradictions_pkey" in walked
    assert "rows=10.00 loops=3" in walked
