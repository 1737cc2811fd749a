"""Finding a retrieval by a part of its query: which, in which order, and among how many rows."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from queries.anything import AskedRetrievals
from queries.scope import EVERYTHING, Scope
from tests import sample
from tests.queries.test_anything import TODAY, found, scope

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]


@pytest.fixture
def asked(owner: Owner) -> dict[str, list[str]]:
    """Three retrievals of four rows of each of two organizations, made a day apart; the ids, newest first."""
    found: dict[str, list[str]] = {}
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
        for days in range(3):
            id_ = sample.add_retrieval(owner, org, sample.unchanged(4), name=f"r{days}", days_ago=days)
            query = f"Why do deploys fail on day {days}?" if days else "On day 0, why do deploys fail?"
            owner.execute("update retrieval_ab_logs set query_text = %s where retrieval_id = %s", (query, id_))
            found.setdefault(org, []).append(str(id_))
    return found


def ids(store: Store, words: str, asked: Scope) -> list[str]:
    return [id_ for _, id_ in found(store, words, asked).get("retrieval", [])]


def test_a_part_of_a_query_finds_it_once_what_begins_so_first_then_the_newest(
    store: Store, asked: dict[str, list[str]]
) -> None:
    mine = asked["org_a"]
    assert ids(store, "WHY DO deploys", scope("org_a")) == [mine[1], mine[2], mine[0]]
    assert ids(store, "day 2", scope("org_a")) == [mine[2]]
    answer = store.ask(AskedRetrievals(scope("org_a"), "day 2"))
    assert answer["name"].tolist() == ["Why do deploys fail on day 2?"]
    for sign in ("%", "day _", "\\"):
        assert ids(store, sign, scope("org_a")) == []


def test_nothing_of_an_organization_out_of_reach_or_not_chosen(store: Store, asked: dict[str, list[str]]) -> None:
    assert set(ids(store, "deploys", scope())) == {*asked["org_a"], *asked["org_b"]}
    assert set(ids(store, "deploys", scope("org_b"))) == set(asked["org_b"])
    assert ids(store, "deploys", scope("org_c")) == []
    chosen = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY, "org_b")
    assert set(ids(store, "deploys", chosen)) == set(asked["org_b"])


def test_no_more_rows_are_looked_through_than_the_bound(
    store: Store, asked: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of eight rows in all, two organizations have the newest retrieval each; one that is chosen has two."""
    monkeypatch.setattr("queries.anything.ROWS_LOOKED_THROUGH", 8)
    assert set(ids(store, "deploys", scope())) == {asked["org_a"][0], asked["org_b"][0]}
    chosen = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY, "org_a")
    assert set(ids(store, "deploys", chosen)) == set(asked["org_a"][:2])


def test_rows_that_one_organization_leaves_are_another_ones(
    store: Store, owner: Owner, asked: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of sixteen rows, eight each: org_b has four, and org_a its twelve."""
    owner.execute("delete from retrieval_ab_logs where org_id = 'org_b' and retrieval_id <> %s", (asked["org_b"][0],))
    monkeypatch.setattr("queries.anything.ROWS_LOOKED_THROUGH", 16)
    assert set(ids(store, "deploys", scope())) == {asked["org_b"][0], *asked["org_a"]}


def test_the_index_of_the_recent_log_is_walked(store: Store, owner: Owner) -> None:
    """A thousand rows each of three organizations; with the bound at thirty, ten of each are read and no more."""
    for org in ("org_a", "org_b", "org_c"):
        sample.add_organization(owner, org)
        owner.execute(
            """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, query_text, observation_id,
                 weighting_enabled, created_at)
               select %s, gen_random_uuid(), 's', repeat('words ', 30), gen_random_uuid(), true,
                      now() - n * interval '1 minute' from generate_series(1, 1000) n""",
            (org,),
        )
    owner.execute("vacuum analyze retrieval_ab_logs")
    statement = AskedRetrievals(scope(), "no such query").statement()
    with store.reading(EVERYTHING) as connection:
        said = str(statement.compile(store.reader, compile_kwargs={"literal_binds": True}))
        said = said.replace("50000", "30").replace(":", "\\:")
        plan = [row[0] for row in connection.execute(sa.text(f"explain (analyze, costs off) {said}"))]
    counted, walked = sorted(line.strip() for line in plan if " on retrieval_ab_logs" in line)
    assert "Index Only Scan Backward using logs_recent" in counted
    assert "rows=11.00 loops=3" in counted
    assert "Index Scan Backward using logs_recent" in walked
    assert "rows=10.00 loops=3" in walked
