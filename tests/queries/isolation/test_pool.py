"""No interleaving of pooled connections shows a row of another scope: ISO-2 of the bar."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import exc, text

from queries.engine import Store, make_engine
from queries.errors import StoreError
from queries.rounds import Statement, snapshot
from queries.scope import EVERYTHING, NOTHING, Reach
from tests import sample
from tests.queries.isolation.planted import ORGS

if TYPE_CHECKING:
    import psycopg

    from tests.conftest import Cluster

    Connection = psycopg.Connection[Any]


class PooledReads(RuleBasedStateMachine):
    """ISO-2: whatever happens to a connection, its next user sees the rows of its own scope and no others."""

    store: Store
    owner: Connection

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[Any, Any, Reach]] = []

    @initialize(size=st.integers(1, 3))
    def start(self, size: int) -> None:
        self.limit = size

    @precondition(lambda self: len(self.open) < self.limit)
    @rule(orgs=st.one_of(st.none(), st.sets(st.sampled_from([*ORGS, "nobody"]))))
    def check_out(self, orgs: set[str] | None) -> None:
        reach = Reach.of(None if orgs is None else frozenset(orgs))
        context = self.store.reading(reach)
        self.open.append((context, context.__enter__(), reach))

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 2))
    def read(self, which: int) -> None:
        _, connection, reach = self.open[which % len(self.open)]
        try:
            seen = {org for (org,) in connection.execute(text("select id from organizations"))}
        except exc.SQLAlchemyError:
            return  # an error or a kill came before; a connection in that state shows nothing
        assert seen == {org for org in ORGS if reach.allows(org)}

    @precondition(lambda self: len(self.open) < self.limit)
    @rule(
        orgs=st.one_of(st.none(), st.sets(st.sampled_from([*ORGS, "nobody"]))), ends=st.booleans(), fails=st.booleans()
    )
    def read_at_once(self, orgs: set[str] | None, ends: bool, fails: bool) -> None:  # noqa: FBT001 - drawn by name
        reach = Reach.of(None if orgs is None else frozenset(orgs))
        with suppress(StoreError), snapshot(self.store, reach, 5.0, name="round") as snap:
            (seen,) = snap.ask(Statement(b"select id from organizations"), ends=ends)
            assert {org for (org,) in seen} == {org for org in ORGS if reach.allows(org)}
            if fails:
                snap.ask(Statement(b"select 1 / 0"))

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 2))
    def fail(self, which: int) -> None:
        _, connection, _ = self.open[which % len(self.open)]
        with pytest.raises(exc.SQLAlchemyError):
            connection.execute(text("select 1 / 0"))

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 2))
    def kill(self, which: int) -> None:
        _, connection, _ = self.open[which % len(self.open)]
        if not connection.invalidated:
            raw = connection.connection.driver_connection
            self.owner.execute("select pg_terminate_backend(%s, 1000)", (raw.pgconn.backend_pid,))

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 2))
    def give_back(self, which: int) -> None:
        context, _, _ = self.open.pop(which % len(self.open))
        context.__exit__(None, None, None)

    @invariant()
    def never_more_than_the_pool(self) -> None:
        assert len(self.open) <= 3

    def teardown(self) -> None:
        for context, _, _ in self.open:
            context.__exit__(None, None, None)
        assert self.store.reader.pool.checkedout() == 0  # type: ignore[attr-defined]


class TestPool:
    def test_a_scope_ends_with_its_transaction_also_when_that_is_committed(
        self, store: Store, owner: Connection
    ) -> None:
        sample.add_organization(owner, "org_a")
        with store.reading(Reach(("org_a",))) as connection:
            assert connection.execute(text("select count(*) from organizations")).scalar_one() == 1
            connection.commit()
            assert connection.execute(text("select count(*) from organizations")).scalar_one() == 0

    def test_a_scope_for_the_session_would_leak(self, cluster: Cluster, store_database: str, owner: Connection) -> None:
        """Why the setting is local to its transaction: the next user of the connection would inherit it."""
        sample.add_organization(owner, "org_a")
        engine = make_engine(cluster.url("dash_read", store_database), name="leak", pool=1, overflow=0)
        with engine.connect() as connection:
            connection.execute(text("""select set_config('dash.orgs', '["org_a"]', false)"""))
            connection.commit()
        with engine.connect() as connection:
            assert connection.execute(text("select count(*) from organizations")).scalar_one() == 1
        engine.dispose()
        store = Store(make_engine(cluster.url("dash_read", store_database), name="sound", pool=1, overflow=0))
        with store.reading(Reach(("org_a",))) as connection:
            assert connection.execute(text("select count(*) from organizations")).scalar_one() == 1
        with store.reader.connect() as connection:
            assert connection.execute(text("select count(*) from organizations")).scalar_one() == 0
        store.close()

    @pytest.mark.parametrize("examples", [100, pytest.param(1000, marks=pytest.mark.long)])
    @pytest.mark.timeout(900)
    def test_no_interleaving_shows_a_row_of_another_scope(
        self, cluster: Cluster, store_database: str, owner: Connection, examples: int
    ) -> None:
        for org in ORGS:
            sample.add_organization(owner, org)
        store = Store(make_engine(cluster.url("dash_read", store_database), name="pool", pool=1, overflow=2))

        class Machine(PooledReads):
            pass

        Machine.store, Machine.owner = store, owner
        try:
            # 100 examples of up to 50 steps are 5 000 interleaved actions
            run_state_machine_as_test(
                Machine,
                settings=settings(
                    max_examples=examples,
                    stateful_step_count=50,
                    deadline=None,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            store.close()


class TestReading:
    def test_a_page_cannot_write_through_the_reader(self, store: Store) -> None:
        with pytest.raises(StoreError) as refused, store.reading(EVERYTHING) as connection:
            connection.execute(text("delete from organizations"))
        assert refused.value.kind in ("privilege", "read_only")

    def test_nothing_is_in_reach_of_nobody(self, store: Store, owner: Connection) -> None:
        sample.add_organization(owner, "org_a")
        with store.reading(NOTHING) as connection:
            assert connection.execute(text("select count(*) from organizations")).scalar_one() == 0

    def test_everything_is_in_reach_of_an_admin(self, store: Store, owner: Connection) -> None:
        sample.add_organization(owner, "org_a")
        with store.reading(EVERYTHING) as connection:
            assert connection.execute(text("select count(*) from organizations")).scalar_one() == 1
