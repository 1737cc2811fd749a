from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from queries.logged_retrieval import LatestRetrievals, LoggedRetrieval
from queries.scope import Reach, Scope
from queries.shape import LogShape, log_shape
from tests import sample

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

EVERYTHING = Reach(None)


def scope(org: str | None = None, reach: Reach = EVERYTHING, days: int = 3) -> Scope:
    return Scope(reach, sample.TODAY - timedelta(days=days), sample.TODAY + timedelta(days=1), org)


@pytest.fixture
def planted(owner: Owner) -> str:
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
        owner.execute(
            "insert into sessions (org_id, id, work_type, created_at) values (%s, %s, 'bug_fix', %s)",
            (org, "session-r", sample.TODAY - timedelta(days=40)),
        )
    sample.add_retrieval(owner, "org_b", sample.unchanged(2), name="r")
    return str(sample.add_retrieval(owner, "org_a", sample.swapped(3, 0, 1), name="r", days_ago=40))


class TestOne:
    def test_its_rows_by_place_whenever_it_was(self, store: Store, planted: str) -> None:
        rows = store.ask(LoggedRetrieval(scope("org_a"), planted))
        assert rows["weighted_rank"].tolist() == [0, 1, 2]
        assert rows["unweighted_rank"].tolist() == [1, 0, 2]
        assert set(rows["org_id"]) == {"org_a"}
        assert set(rows["work_type"]) == {"bug_fix"}
        assert set(rows["query_text"]) == {sample.canary("org_a", "query")}
        assert rows["at"].iloc[0] == sample.TODAY - timedelta(days=40) + timedelta(hours=12)

    def test_its_organization_is_found_where_all_are_in_scope(self, store: Store, planted: str) -> None:
        assert set(store.ask(LoggedRetrieval(scope(), planted))["org_id"]) == {"org_a"}

    @pytest.mark.parametrize(
        "where", [scope("org_b"), scope(reach=Reach(("org_b",))), scope("org_b", Reach(("org_b",)))]
    )
    def test_a_foreign_one_looks_like_none(self, store: Store, planted: str, where: Scope) -> None:
        assert store.ask(LoggedRetrieval(where, planted)).empty

    @pytest.mark.parametrize("named", ["", "x", "'; drop table sessions; --", "\0", "\ud800", "a" * 5000])
    def test_nonsense_names_none(self, store: Store, planted: str, named: str) -> None:
        assert planted
        assert store.ask(LoggedRetrieval(scope(), named)).empty


class TestOldStores:
    def test_without_the_added_columns_it_is_session_and_question(
        self, store: Store, owner: Owner, planted: str
    ) -> None:
        owner.execute(
            "alter table retrieval_ab_logs drop column retrieval_id, drop column created_at, drop column injected"
        )
        with store.reading(EVERYTHING) as connection:
            shape = log_shape(connection)
        assert shape == LogShape(retrieval_id=False, created_at=False, injected=False, by_observation=False)
        latest = store.ask(LatestRetrievals(scope("org_a", days=60), shape))
        assert len(latest) == 1
        rows = store.ask(LoggedRetrieval(scope("org_a"), latest["retrieval"].iloc[0], shape))
        assert len(rows) == 3
        assert rows["injected"].isna().all()
        assert rows["at"].iloc[0] == sample.TODAY - timedelta(days=40)
        assert store.ask(LoggedRetrieval(scope("org_a"), planted, shape)).empty


def test_the_latest_come_first_each_once(store: Store, owner: Owner, planted: str) -> None:
    newer = sample.add_retrieval(owner, "org_a", sample.unchanged(20), name="newer", days_ago=1)
    newest = sample.add_retrieval(owner, "org_a", sample.unchanged(20), name="newest", days_ago=0)
    found = store.ask(LatestRetrievals(scope("org_a", days=60)))
    assert found["retrieval"].tolist() == [str(newest), str(newer), planted]
    assert store.ask(LatestRetrievals(scope("org_a")))["retrieval"].tolist() == [str(newest), str(newer)]
