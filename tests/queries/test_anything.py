"""Finding anything by id or name: what is there, in which order, and nothing of anyone else's."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from queries.anything import TitledObservations, questions
from queries.found import FOUND
from queries.scope import EVERYTHING, Reach, Scope
from queries.shape import LogShape
from tests import sample
from tests.hostile import TEXTS
from tests.memories import add_thousands_titled

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

TODAY = sample.TODAY.date()
ALERT = "f" * 32


def scope(*orgs: str) -> Scope:
    reach = Reach.of(frozenset(orgs)) if orgs else EVERYTHING
    return Scope.of_days(reach, TODAY - timedelta(days=6), TODAY)


def found(store: Store, words: str, asked: Scope) -> dict[str, list[tuple[str, str]]]:
    """Organization and id of each match, by kind; kinds without any are left out."""
    answers = {kind: store.ask(question) for kind, question in questions(asked, words).items()}
    return {kind: list(zip(frame["org_id"], frame["id"], strict=True)) for kind, frame in answers.items() if len(frame)}


@pytest.fixture
def planted(owner: Owner) -> dict[str, str]:
    """Two organizations alike, with a thing of each kind; the ids of org_a's."""
    for org, name in (("org_a", "Acme Freight"), ("org_b", "Freight of Acme")):
        sample.add_organization(owner, org, name)
        (run,) = owner.execute(
            """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version)
               values (%s, 'api', 'done', 'v') returning id""",
            (org,),
        ).fetchone()  # type: ignore[misc]
        owner.execute(
            """insert into rankscope.contradictions (org_id, run_id, place, fingerprint, older, newer, kind, rule,
                 overlap, severity, parts, evidence)
               values (%s, %s, 0, %s, gen_random_uuid(), gen_random_uuid(), 'value', 'r', 0.5, 0.456, '{}', '{}')""",
            (org, run, ALERT if org == "org_a" else "e" * 32),
        )
    (observation,) = sample.add_observations(owner, "org_a", 1)
    retrieval = sample.add_retrieval(owner, "org_a", sample.unchanged(3), name="one")
    return {"observation": str(observation), "retrieval": str(retrieval), "alert": ALERT, "organization": "org_a"}


@pytest.mark.parametrize("kind", ["observation", "retrieval", "alert", "organization"])
def test_each_kind_is_found_by_its_id_and_not_by_those_who_may_not_see_it(
    store: Store, planted: dict[str, str], kind: str
) -> None:
    for asked in (scope(), scope("org_a"), scope("org_a", "org_b")):
        assert found(store, planted[kind], asked)[kind] == [("org_a", planted[kind])]
    assert found(store, planted[kind], scope("org_b")) == {}
    assert found(store, planted[kind], scope("org_c")) == {}


@pytest.mark.usefixtures("planted")
def test_a_name_that_begins_so_comes_before_one_that_holds_it(store: Store) -> None:
    assert found(store, "acme", scope())["organization"] == [("org_a", "org_a"), ("org_b", "org_b")]
    assert found(store, "FREIGHT", scope())["organization"] == [("org_b", "org_b"), ("org_a", "org_a")]
    assert found(store, "api", scope())["project"] == [("org_a", "api"), ("org_b", "api")]
    assert found(store, "canary-org_b-proj", scope())["project"] == [("org_b", "api")]


@pytest.mark.usefixtures("planted")
def test_an_alert_says_what_it_is(store: Store) -> None:
    answer = store.ask(questions(scope(), ALERT)["alert"])
    assert answer["name"].tolist() == ["value contradiction, severity 0.46"]


@pytest.mark.parametrize("words", ["%", "%%", "a%e", "A__e", "\\"], ids=["any", "two", "inside", "ones", "escape"])
@pytest.mark.usefixtures("planted")
def test_signs_of_a_pattern_are_letters(store: Store, words: str) -> None:
    assert "organization" not in found(store, words, scope())


@pytest.mark.usefixtures("planted")
def test_whatever_is_typed_is_a_valid_search(store: Store, owner: Owner) -> None:
    for number, text in enumerate(TEXTS):
        sample.add_organization(owner, f"h{number}", text)
    for number, text in enumerate(TEXTS):
        words = text.strip()[:200]
        if words:
            assert (f"h{number}", f"h{number}") in found(store, words, scope()).get("organization", [("", "")]) or len(
                found(store, words, scope())["organization"]
            ) > FOUND


def add_run(owner: Owner, project: str, state: str, *alerts: str) -> None:
    """A pass over a project of org_a that found these alerts."""
    (run,) = owner.execute(
        """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version)
           values ('org_a', %s, %s, 'v') returning id""",
        (project, state),
    ).fetchone()  # type: ignore[misc]
    for place, fingerprint in enumerate(alerts):
        owner.execute(
            """insert into rankscope.contradictions (org_id, run_id, place, fingerprint, older, newer, kind, rule,
                 overlap, severity, parts, evidence)
               values ('org_a', %s, %s, %s, gen_random_uuid(), gen_random_uuid(), 'value', 'r', 0.5, 3, '{}', '{}')""",
            (run, place, fingerprint),
        )


@pytest.mark.usefixtures("planted")
def test_an_alert_that_the_last_pass_of_its_project_no_longer_found_is_gone(store: Store, owner: Owner) -> None:
    """Two passes are kept; a failed one, or one over another project, takes nothing away."""
    add_run(owner, "web", "done", "d" * 32)
    add_run(owner, "api", "failed")
    assert found(store, ALERT, scope()) == {"alert": [("org_a", ALERT)]}
    add_run(owner, "api", "done", "c" * 32)
    assert found(store, ALERT, scope()) == {}
    assert found(store, "c" * 32, scope()) == {"alert": [("org_a", "c" * 32)]}
    assert found(store, "d" * 32, scope()) == {"alert": [("org_a", "d" * 32)]}


def test_one_more_than_is_listed_is_asked_for_and_no_more(store: Store, owner: Owner) -> None:
    for number in range(FOUND + 3):
        sample.add_organization(owner, f"org_{number}", f"Acme {number}")
    answers = found(store, "acme", scope())
    assert {kind: len(rows) for kind, rows in answers.items()} == {"organization": FOUND + 1}


def test_what_is_no_id_is_not_asked_for(store: Store) -> None:
    named = {"organization", "project", "alert", "observation"}
    assert set(questions(scope(), "acme")) == named | {"retrieval"}
    for log in (LogShape(retrieval_id=False), LogShape(created_at=False)):
        assert set(questions(scope(), "acme", log)) == named
    assert isinstance(questions(scope(), "acme")["observation"], TitledObservations)
    id_ = "6f1d7a60-95a3-4c39-9d52-3ad8dfb7a1a1"
    assert "retrieval" not in questions(scope(), id_, LogShape(retrieval_id=False))
    assert found(store, id_, scope()) == {}


class TestTitles:
    @pytest.fixture
    def titled(self, owner: Owner) -> dict[str, list[str]]:
        """Five observations of each of two organizations, written a day apart; the ids, newest first."""
        found: dict[str, list[str]] = {}
        for org in ("org_a", "org_b"):
            sample.add_organization(owner, org)
            for number in range(5):
                (id_,) = sample.add_observations(owner, org, 1, days_ago=number)
                title = f"Deploys of {org} on day {number}" if number % 2 else f"On day {number}: deploys of {org}"
                owner.execute("update observations set title = %s where id = %s", (title, id_))
                found.setdefault(org, []).append(str(id_))
        return found

    def ids(self, store: Store, words: str, asked: Scope) -> list[str]:
        return [id_ for _, id_ in found(store, words, asked).get("observation", [])]

    def test_a_part_of_a_title_finds_it_what_begins_so_first_then_the_newest(
        self, store: Store, titled: dict[str, list[str]]
    ) -> None:
        mine = titled["org_a"]
        assert self.ids(store, "DEPLOYS OF ORG_A", scope()) == [mine[1], mine[3], mine[0], mine[2], mine[4]]
        assert self.ids(store, "day 3", scope("org_a")) == [mine[3]]
        assert len(self.ids(store, "deploys", scope())) == 10

    def test_nothing_of_an_organization_out_of_reach(self, store: Store, titled: dict[str, list[str]]) -> None:
        assert set(self.ids(store, "deploys", scope("org_b"))) == set(titled["org_b"])
        assert self.ids(store, "org_a", scope("org_b")) == []
        assert self.ids(store, "deploys", scope("org_c")) == []

    def test_a_chosen_organization_is_looked_through_alone(self, store: Store, titled: dict[str, list[str]]) -> None:
        chosen = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY, "org_b")
        assert set(self.ids(store, "deploys", chosen)) == set(titled["org_b"])

    def test_no_more_are_looked_through_than_the_bound(
        self, store: Store, titled: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of five in all, two organizations have the newest two each; one that is chosen has all five."""
        monkeypatch.setattr("queries.anything.LOOKED_THROUGH", 5)
        assert set(self.ids(store, "deploys", scope())) == {*titled["org_a"][:2], *titled["org_b"][:2]}
        assert self.ids(store, "day 4", scope()) == []
        chosen = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY, "org_a")
        assert self.ids(store, "day 4", chosen) == [titled["org_a"][4]]
        monkeypatch.setattr("queries.anything.LOOKED_THROUGH", 1)
        assert set(self.ids(store, "deploys", scope())) == {titled["org_a"][0], titled["org_b"][0]}

    def test_what_small_organizations_leave_goes_to_those_with_more(
        self, store: Store, owner: Owner, titled: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of sixteen rows, three each: those of none, one and four leave the others (16 - 0 - 1 - 4) // 2 = 5 each."""
        for org, several in (("org_c", 0), ("org_d", 1), ("org_e", 4)):
            sample.add_organization(owner, org)
            for id_ in sample.add_observations(owner, org, several):
                owner.execute("update observations set title = %s where id = %s", (f"deploys of {org}", id_))
        monkeypatch.setattr("queries.anything.LOOKED_THROUGH", 16)
        assert set(self.ids(store, "day 4", scope())) == {titled["org_a"][4], titled["org_b"][4]}
        monkeypatch.setattr("queries.anything.LOOKED_THROUGH", 14)
        assert self.ids(store, "day 4", scope()) == []
        assert set(self.ids(store, "day 3", scope())) == {titled["org_a"][3], titled["org_b"][3]}
        assert self.ids(store, "day 4", scope("org_a", "org_c")) == [titled["org_a"][4]]

    def test_the_index_of_recent_observations_is_walked(self, store: Store, owner: Owner) -> None:
        """A thousand rows each of three organizations; with the bound at thirty, ten of each are read and no more."""
        add_thousands_titled(owner)
        asked = TitledObservations(scope(), "no such title")
        with store.reading(EVERYTHING) as connection:
            statement = asked.statement().compile(store.reader, compile_kwargs={"literal_binds": True})
            said = str(statement).replace("10000", "30").replace(":", "\\:")
            plan = [row[0] for row in connection.execute(sa.text(f"explain (analyze, costs off) {said}"))]
        counted, walked = sorted(line.strip() for line in plan if " on observations" in line)
        assert "Index Only Scan Backward using observations_recent" in counted
        assert "rows=11.00 loops=3" in counted
        assert "Index Scan Backward using observations_recent" in walked
        assert "rows=10.00 loops=3" in walked

    @pytest.mark.parametrize("words", ["%", "day _", "\\"], ids=["any", "one", "escape"])
    @pytest.mark.usefixtures("titled")
    def test_signs_of_a_pattern_are_letters(self, store: Store, words: str) -> None:
        assert self.ids(store, words, scope()) == []

    def test_what_is_archived_is_not_found_by_its_title(
        self, store: Store, owner: Owner, titled: dict[str, list[str]]
    ) -> None:
        owner.execute("update observations set status = 'archived' where id = %s", (titled["org_a"][3],))
        assert self.ids(store, "day 3", scope("org_a")) == []
        assert self.ids(store, titled["org_a"][3], scope("org_a")) == [titled["org_a"][3]]
