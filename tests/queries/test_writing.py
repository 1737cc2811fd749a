"""A transaction that may write: all of it or nothing, in one reach, within a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from queries.engine import Store, make_engine
from queries.errors import NO_WRITER, StoreError
from queries.scope import EVERYTHING, Reach
from tests import sample

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg
    from sqlalchemy import Connection

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

RENAME = text("""update organizations set features = '{"x": true}' returning id""")
MINE = Reach(("org_a",))


@pytest.fixture(autouse=True)
def _two_organizations(owner: Owner) -> None:
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)


def changed(owner: Owner) -> list[str]:
    return [org for (org,) in owner.execute("select id from organizations where features <> '{}' order by 1")]


def test_it_is_committed_at_the_end_and_reaches_no_further_than_it_may(store: Store, owner: Owner) -> None:
    with store.writing(MINE) as connection:
        assert connection.execute(RENAME).scalars().all() == ["org_a"]
        assert changed(owner) == []
    assert changed(owner) == ["org_a"]


def rename(store: Store, then: Callable[[Connection], object]) -> None:
    with store.writing(EVERYTHING) as connection:
        connection.execute(RENAME)
        then(connection)


def test_what_is_raised_inside_undoes_it_and_comes_out(store: Store, owner: Owner) -> None:
    with pytest.raises(KeyError):
        rename(store, lambda _: dict[str, int]()["missing"])
    with pytest.raises(StoreError) as refused:
        rename(store, lambda connection: connection.execute(text("select 1 / 0")))
    assert refused.value.sqlstate == "22012"
    assert changed(owner) == []


def test_the_scope_ends_with_its_transaction(store: Store) -> None:
    assert store.writer
    with store.writing(EVERYTHING):
        pass
    with store.writer.connect() as next_user:
        assert next_user.execute(RENAME).scalars().all() == []


def test_it_sees_what_others_committed_meanwhile_and_waits_for_their_locks(store: Store) -> None:
    with store.writing(MINE, limit=2.0, name="change") as connection:
        shown = [
            connection.execute(text("select current_setting(:name)"), {"name": name}).scalar_one()
            for name in ("transaction_isolation", "lock_timeout", "statement_timeout", "application_name")
        ]
    assert shown == ["read committed", "5s", "2s", "rankscope change"]


def test_a_store_without_a_login_that_may_write(store: Store) -> None:
    with pytest.raises(StoreError) as refused, Store(store.reader).writing(MINE):
        pass
    assert refused.value.sentence == NO_WRITER


def test_a_database_that_is_set_to_read_only_stays_so(cluster: Cluster, store_database: str, owner: Owner) -> None:
    owner.execute(f"alter database {store_database} set default_transaction_read_only = on".encode())
    engine = make_engine(cluster.url("dash_write", store_database), name="read-only")
    with pytest.raises(StoreError) as refused, Store(engine, engine).writing(EVERYTHING) as connection:
        connection.execute(RENAME)
    engine.dispose()
    assert refused.value.kind == "read_only"
