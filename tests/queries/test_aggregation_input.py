"""What a pass looks at, and when it need not look again."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import sql

from queries import aggregation_input
from queries.aggregation_input import (
    AggregationScope,
    AggregationScopes,
    NewestObservations,
    OppositionPairs,
    ScopeVersion,
)
from queries.scope import EVERYTHING, NOTHING, Reach
from tests import sample
from tests.scopes import add_alike, add_observation

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

API = AggregationScope("org_a", "api")
NONE = AggregationScope("org_a", None)


@pytest.fixture(autouse=True)
def _planted(owner: Owner) -> None:
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
        add_alike(owner, org)


def version(store: Store, scope: AggregationScope = API) -> str:
    """The version of a scope alone; as one of all scopes it is the same."""
    with store.reading(EVERYTHING) as snapshot:
        alone = ScopeVersion(scope).ask(snapshot).version
        listed = {found.scope: found.version for found in AggregationScopes(EVERYTHING).ask(snapshot)}
    assert listed.get(scope, alone) == alone
    return alone


def set_on_one(owner: Owner, assignment: str) -> None:
    """Change one observation of the scope."""
    statement = sql.SQL("update observations set {} where org_id = 'org_a' and content ~ 'certificate'")
    owner.execute(statement.format(sql.SQL(assignment)))


class TestVersion:
    @pytest.mark.parametrize(
        "assignment",
        [
            "status = 'archived'",
            "content = content || '!'",
            "weight = 0.5",
            "agent_id = 'someone else'",
            "session_id = 'another'",
            "created_at = created_at - interval '1 second'",
            "project_id = 'web'",
            "project_id = null",
        ],
    )
    def test_it_notices_a_row_that_changed(self, store: Store, owner: Owner, assignment: str) -> None:
        before = version(store)
        set_on_one(owner, assignment)
        assert version(store) != before

    @pytest.mark.parametrize(
        "change",
        [
            "insert into observations (org_id, project_id, content, content_hash) values ('org_a', 'api', 'x', 'x')",
            "delete from observations where org_id = 'org_a' and content ~ 'certificate'",
            "truncate observations cascade",
            """insert into rankscope.opposition_pairs (org_id, one, other, changed_by)
                 values ('org_a', 'hot', 'cold', 'who')""",
        ],
    )
    def test_it_notices(self, store: Store, owner: Owner, change: str) -> None:
        before = version(store)
        owner.execute(change.encode())
        assert version(store) != before

    @pytest.mark.parametrize(
        "change",
        [
            "select 1",
            "update observations set last_accessed_at = now(), importance = 1, metadata = '{}' where org_id = 'org_a'",
            "delete from observations where org_id = 'org_b'",
            """insert into observations (org_id, project_id, content, content_hash, status)
                 values ('org_a', 'api', 'x', 'x', 'archived'), ('org_a', 'web', 'x', 'x', 'active'),
                        ('org_a', null, 'x', 'x', 'active'), ('org_b', 'api', 'x', 'x', 'active')""",
            """insert into rankscope.opposition_pairs (org_id, one, other, changed_by)
                 values ('org_b', 'hot', 'cold', 'who')""",
        ],
    )
    def test_what_is_not_the_pass_s_affair_changes_nothing(self, store: Store, owner: Owner, change: str) -> None:
        before = version(store)
        owner.execute(change.encode())
        assert version(store) == before

    def test_a_change_that_was_taken_back_leaves_the_version_as_it_was(self, store: Store, owner: Owner) -> None:
        before = version(store)
        for weight in ("weight = 2", "weight = 1"):
            set_on_one(owner, weight)
        assert version(store) == before

    @pytest.mark.parametrize("column", ["content", "weight", "agent_id"])
    def test_what_two_rows_swap(self, store: Store, owner: Owner, column: str) -> None:
        """A sum over columns alone would not see it, nor one of hashes of rows that are sums themselves."""
        owner.execute("update observations set weight = 0.5 where content like 'Use%'")
        swap = sql.SQL(
            """update observations o set {0} = other.{0} from observations other
                where o.org_id = 'org_a' and other.org_id = 'org_a' and o.id <> other.id
                  and o.content ~ '^(Use|use)' and other.content ~ '^(Use|use)'"""
        ).format(sql.Identifier(column))
        for hour in range(12):  # whether such sums differ is chance, and each hour another
            owner.execute("update observations set created_at = created_at - interval '1 hour'")
            before = version(store)
            owner.execute(swap)
            assert version(store) != before, f"{hour} hours earlier"

    def test_another_day_and_another_procedure(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        assert "now()) AS DATE)" in str(ScopeVersion(API).statement().compile(store.reader))
        before = version(store)
        monkeypatch.setattr(aggregation_input, "PROCEDURE", "another")
        assert version(store) != before

    def test_of_nothing(self, store: Store) -> None:
        assert version(store, NONE) == version(store, NONE) != version(store)

    def test_without_reach_it_sees_nothing(self, store: Store) -> None:
        with store.reading(NOTHING) as snapshot:
            assert ScopeVersion(API).ask(snapshot).active == 0


class TestScopes:
    def scopes(self, store: Store, reach: Reach = EVERYTHING) -> list[tuple[str, str | None, bool]]:
        with store.reading(reach) as snapshot:
            found = AggregationScopes(reach).ask(snapshot)
        return [(entry.scope.org_id, entry.scope.project_id, entry.there) for entry in found]

    def test_projects_and_what_belongs_to_none(self, store: Store, owner: Owner) -> None:
        add_observation(owner, "org_a", "n", "text", None)
        add_observation(owner, "org_b", "w", "text", "unlisted")
        owner.execute("insert into projects (org_id, id, name) values ('org_b', 'empty', 'Empty')")
        assert self.scopes(store) == [
            ("org_a", None, True),
            ("org_a", "api", True),
            ("org_b", "api", True),
            ("org_b", "empty", True),
            ("org_b", "unlisted", True),
        ]
        assert self.scopes(store, Reach(("org_a",))) == [("org_a", None, True), ("org_a", "api", True)]
        assert self.scopes(store, NOTHING) == []

    def test_what_only_earlier_runs_remember_is_gone(self, store: Store, owner: Owner) -> None:
        owner.execute(
            """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version)
                 values ('org_a', 'api', 'done', 'v'), ('org_a', 'dropped', 'done', 'v')"""
        )
        assert self.scopes(store, Reach(("org_a",))) == [("org_a", "api", True), ("org_a", "dropped", False)]

    def test_no_two_locks_are_alike(self) -> None:
        scopes = [AggregationScope(org, project) for org in ("a", "b", "a/b") for project in (None, "", "b", "None")]
        assert len({scope.lock for scope in scopes}) == len(scopes)
        assert all(-(2**63) <= scope.lock < 2**63 for scope in scopes)


class TestNewest:
    def test_newest_first_equal_ages_by_id_and_one_more_than_the_limit(
        self, store: Store, owner: Owner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(aggregation_input, "LIMIT", 2)
        ids = [add_observation(owner, "org_a", n, "t", "web", created_at=sample.TODAY) for n in "abc"]
        newest = add_observation(owner, "org_a", "z", "t", "web", created_at=sample.TODAY + timedelta(seconds=1))
        with store.reading(API.reach) as snapshot:
            rows = NewestObservations(AggregationScope("org_a", "web")).ask(snapshot)
        assert [row.id for row in rows] == [str(newest), *sorted(map(str, ids))[:2]]
        assert rows[0].created_us == int(sample.TODAY.timestamp() * 1_000_000) + 1_000_000

    @pytest.mark.parametrize("moment", ["infinity", "-infinity", "20000-01-01", "0044-03-15 BC"])
    def test_a_time_that_no_datetime_holds_is_no_time(self, store: Store, owner: Owner, moment: str) -> None:
        add_observation(owner, "org_a", "odd", "t", "web", created_at=moment)
        with store.reading(API.reach) as snapshot:
            (row,) = NewestObservations(AggregationScope("org_a", "web")).ask(snapshot)
        assert row.created_us is None

    def test_a_very_long_text_is_cut(self, store: Store, owner: Owner) -> None:
        add_observation(owner, "org_a", "long", "word " * 100_000, "web")
        with store.reading(API.reach) as snapshot:
            (row,) = NewestObservations(AggregationScope("org_a", "web")).ask(snapshot)
        assert len(row.content) == 20_000

    def test_a_kept_hash_comes_with_the_very_text_it_was_made_of(self, store: Store, owner: Owner) -> None:
        one = add_observation(owner, "org_a", "one", "text", "web")
        owner.execute(
            """insert into rankscope.simhashes (org_id, observation_id, content_hash, simhash, tokens)
                 values ('org_a', %(id)s, md5('text'), -5, 1), ('org_b', %(id)s, md5('text'), 7, 1)""",
            {"id": one},
        )
        with store.reading(EVERYTHING) as snapshot:
            (row,) = NewestObservations(AggregationScope("org_a", "web")).ask(snapshot)
        assert (row.simhash, row.tokens) == (-5, 1)
        owner.execute("update observations set content = 'texts' where id = %s", (one,))
        with store.reading(EVERYTHING) as snapshot:
            (row,) = NewestObservations(AggregationScope("org_a", "web")).ask(snapshot)
        assert (row.simhash, row.tokens) == (None, None)

    def test_pairs_of_one_organization(self, store: Store, owner: Owner) -> None:
        owner.execute(
            """insert into rankscope.opposition_pairs (org_id, one, other, changed_by)
                 values ('org_a', 'tabs', 'spaces', 'w'), ('org_a', 'hot', 'cold', 'w'), ('org_b', 'x', 'y', 'w')"""
        )
        with store.reading(EVERYTHING) as snapshot:
            assert OppositionPairs("org_a").ask(snapshot) == (("hot", "cold"), ("tabs", "spaces"))
            assert OppositionPairs("org_c").ask(snapshot) == ()
