from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from queries.corroborating import Corroborating, Voices
from queries.scope import EVERYTHING, Reach
from tests.sample import add_observations, add_organization

if TYPE_CHECKING:
    from uuid import UUID

    import psycopg

    from queries.corroborating import Corroborated
    from queries.engine import Store

    Owner = psycopg.Connection[Any]


def add_run(owner: Owner, org: str, project: str | None, state: str = "done") -> int:
    row = owner.execute(
        """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version, finished_at)
           values (%s, %s, %s, 'v', case when %s <> 'running' then clock_timestamp() end) returning id""",
        (org, project, state, state),
    ).fetchone()
    assert row is not None
    return int(row[0])


def add_cluster(owner: Owner, org: str, run: int, ids: list[UUID], *, cluster: int = 0, disputed: bool = False) -> None:
    with owner.cursor() as cursor:
        cursor.executemany(
            "insert into rankscope.clusters values (%s, %s, %s, %s, %s, %s, %s, 2, 1)",
            [(org, run, id_, cluster, place == 0, disputed, len(ids) - 1) for place, id_ in enumerate(ids)],
        )


@pytest.fixture
def ids(owner: Owner) -> list[UUID]:
    add_organization(owner, "acme")
    add_organization(owner, "globex")
    return add_observations(owner, "acme", 5)


def ask(store: Store, org: str, project: str | None, ids: list[UUID], reach: Reach = EVERYTHING) -> Corroborated:
    with store.reading(reach) as connection:
        return Corroborating(org, project, tuple(ids)).read(connection)


class TestTheLatestFinishedPass:
    def test_who_says_the_same(self, store: Store, owner: Owner, ids: list[UUID]) -> None:
        add_cluster(owner, "acme", add_run(owner, "acme", "api"), ids[:3], cluster=7, disputed=True)
        found = ask(store, "acme", "api", ids)
        assert found.voices == dict.fromkeys(ids[:3], Voices(7, 2, 2, disputed=True))
        assert found.as_of is not None

    def test_only_for_the_candidates(self, store: Store, owner: Owner, ids: list[UUID]) -> None:
        add_cluster(owner, "acme", add_run(owner, "acme", "api"), ids[:3])
        assert set(ask(store, "acme", "api", ids[2:]).voices) == {ids[2]}

    @pytest.mark.parametrize("state", ["running", "failed", "skipped"])
    def test_a_pass_that_did_not_finish_changes_nothing(
        self, store: Store, owner: Owner, ids: list[UUID], state: str
    ) -> None:
        add_cluster(owner, "acme", add_run(owner, "acme", "api"), ids[:2])
        add_cluster(owner, "acme", add_run(owner, "acme", "api", state), ids)
        assert ask(store, "acme", "api", ids).voices == dict.fromkeys(ids[:2], Voices(0, 1, 2, disputed=False))

    def test_a_later_pass_replaces_the_earlier(self, store: Store, owner: Owner, ids: list[UUID]) -> None:
        add_cluster(owner, "acme", add_run(owner, "acme", "api"), ids[:2])
        add_run(owner, "acme", "api")
        found = ask(store, "acme", "api", ids)
        assert found.voices == {}
        assert found.as_of is not None

    def test_no_pass_is_told_from_no_cluster(self, store: Store, ids: list[UUID]) -> None:
        assert ask(store, "acme", "api", ids).as_of is None


class TestScope:
    def test_a_project_has_its_own_pass(self, store: Store, owner: Owner, ids: list[UUID]) -> None:
        add_cluster(owner, "acme", add_run(owner, "acme", "api"), ids[:2])
        add_cluster(owner, "acme", add_run(owner, "acme", "web"), ids[2:])
        assert set(ask(store, "acme", "api", ids).voices) == set(ids[:2])

    def test_without_a_project_every_project_speaks(self, store: Store, owner: Owner, ids: list[UUID]) -> None:
        add_cluster(owner, "acme", add_run(owner, "acme", "api"), ids[:2])
        add_cluster(owner, "acme", add_run(owner, "acme", "web"), ids[2:4])
        assert set(ask(store, "acme", None, ids).voices) == set(ids[:4])

    def test_another_organization_is_not_heard(self, store: Store, owner: Owner, ids: list[UUID]) -> None:
        add_cluster(owner, "globex", add_run(owner, "globex", "api"), ids)
        assert ask(store, "acme", "api", ids).voices == {}
        mine = Reach(("acme",))
        assert ask(store, "globex", "api", ids, mine).as_of is None
