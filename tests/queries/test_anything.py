"""Finding anything by id or name: what is there, in which order, and nothing of anyone else's."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from queries.anything import questions
from queries.scope import EVERYTHING, Reach, Scope
from tests import sample
from tests.hostile import TEXTS

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
    answers = {kind: store.ask(question) for kind, question in questions(asked, words, by_retrieval=True).items()}
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
    answer = store.ask(questions(scope(), ALERT, by_retrieval=True)["alert"])
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
            ) == 10


def test_what_is_no_id_is_not_asked_for(store: Store) -> None:
    assert set(questions(scope(), "acme", by_retrieval=True)) == {"organization", "project", "alert"}
    id_ = "6f1d7a60-95a3-4c39-9d52-3ad8dfb7a1a1"
    assert "retrieval" not in questions(scope(), id_, by_retrieval=False)
    assert found(store, id_, scope()) == {}
