"""Tenants are kept apart by the database: ISO-1 to ISO-5 of the bar."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from psycopg import sql
from sqlalchemy import exc, text

from queries.engine import Store, make_engine
from queries.errors import StoreError
from queries.isolation import gap
from queries.rounds import Statement, snapshot
from queries.scope import EVERYTHING, NOTHING, Reach
from tests import sample

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cluster

    Connection = psycopg.Connection[Any]

ORGS = ("org_a", "org_b", "org_c")

READABLE = """
    select c.oid::regclass::text, exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'org_id')
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname not in ('pg_catalog', 'information_schema')
       and has_table_privilege(%s, c.oid, 'select')
       and c.oid <> 'rankscope.alembic_version'::regclass -- names our own revisions and nothing of any tenant
"""


@pytest.fixture(scope="module")
def populated(cluster: Cluster, template: str) -> Iterator[str]:
    """A store with a row of each organization in every table that knows them; no test leaves a change in it."""
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        plant(owner)
    yield name
    cluster.drop(name)


@pytest.fixture(scope="module")
def superuser(cluster: Cluster, populated: str) -> Iterator[Connection]:
    with psycopg.connect(cluster.plain_url("postgres", populated), autocommit=True) as connection:
        yield connection


def plant(owner: Connection) -> None:
    for org in ORGS:
        sample.add_organization(owner, org)
        ids = sample.add_observations(owner, org, 2)
        sample.add_session(owner, org, "session-1")
        sample.add_retrieval(owner, org, sample.unchanged(2), name="r1")
        for statement in (
            "insert into observation_embeddings values (%(org)s, %(id)s, 'full', '[1,2,3]')",
            """insert into observation_weight_history (org_id, observation_id, session_id, outcome, previous_weight,
                 new_weight, alpha) values (%(org)s, %(id)s, 's', 'accepted', 1, 1, 0.1)""",
            """insert into context_injection_logs
                 (org_id, retrieval_id, session_id, token_budget, tokens_used, candidates)
                 values (%(org)s, %(id)s, 's', 1, 1, 1)""",
            "insert into session_diagnostics (org_id, session_id) values (%(org)s, 's')",
            """insert into rankscope.flag_changes
                 (org_id, request_id, flag, old_state, new_state, reason, actor, source)
                 values (%(org)s, gen_random_uuid(), 'f', 'true', 'false', 'why', 'who', 'page')""",
            """insert into rankscope.drift_triage (org_id, fingerprint, state, changed_by)
                 values (%(org)s, 'f', 'new', 'w')""",
            """insert into rankscope.drift_triage_events (org_id, request_id, fingerprint, old_state, new_state, actor)
                 values (%(org)s, gen_random_uuid(), 'f', 'new', 'resolved', 'who')""",
            "insert into rankscope.opposition_pairs (org_id, one, other, changed_by) values (%(org)s, 'a', 'b', 'who')",
            """insert into rankscope.opposition_changes (org_id, request_id, action, added, removed, digest, actor)
                 values (%(org)s, gen_random_uuid(), 'reset', '[]', '[]', '', 'who')""",
            """insert into rankscope.pins (org_id, name, query_text, expectations, created_by)
                 values (%(org)s, 'n', 'q', '{}', 'who')""",
            """insert into rankscope.exports (org_id, kind, format, rows, file_name, actor)
                 values (%(org)s, 'k', 'csv', 1, 'f', 'who')""",
            """with run as (insert into rankscope.aggregation_runs (org_id, state, data_version)
                 values (%(org)s, 'done', 'v') returning org_id, id)
               insert into rankscope.clusters (org_id, run_id, observation_id, cluster, canonical, corroboration_score,
                 agents, diameter) select org_id, id, %(id)s, 0, true, 1, 1, 0 from run""",
            """insert into rankscope.log_writers values
                 (%(org)s, gen_random_uuid(), 'agents', 0, 1, 20, 0, 0, null, now())""",
            """insert into rankscope.contradictions
                 select org_id, id, 0, 'f', %(id)s, %(id)s, 'value', 'r', 1, 1, '{}', '[]'
                   from rankscope.aggregation_runs where org_id = %(org)s""",
            "insert into rankscope.simhashes values (%(org)s, %(id)s, 'h', 1)",
            "insert into rankscope.rollups values (%(org)s, '', 'm', now(), 1, 1)",
        ):
            owner.execute(statement, {"org": org, "id": ids[0]})
    owner.execute("insert into rankscope.principals (name, role) values ('someone', 'viewer'), ('other', 'viewer')")
    owner.execute(
        """insert into rankscope.saved_views (principal, name, page, query)
             values ('someone', 'n', 'p', ''), ('other', 'n', 'p', '')"""
    )


def relations(owner: Connection, role: str) -> list[tuple[str, bool]]:
    return owner.execute(READABLE, (role,)).fetchall()


def scoped(connection: Connection, setting: str) -> None:
    connection.execute("select set_config('dash.orgs', %s, true)", (setting,))


@pytest.mark.parametrize("role", ["dash_read", "dash_write", "memory_write"])
class TestRowSecurity:
    """ISO-1: driven by the catalogue, so that a table added without a policy fails here."""

    def test_a_role_sees_its_scope_and_nothing_else(
        self, cluster: Cluster, populated: str, superuser: Connection, role: str
    ) -> None:
        found = relations(superuser, role)
        tenant_tables = [name for name, has_org in found if has_org]
        assert len(tenant_tables) >= (8 if role == "memory_write" else 18)
        for name in tenant_tables:
            relation = sql.SQL(name)
            planted = superuser.execute(sql.SQL("select count(distinct org_id) from {}").format(relation)).fetchone()
            assert planted == (3,), f"the test plants no row for each organization in {name}"
            for mine in ORGS:
                with psycopg.connect(cluster.plain_url(role, populated)) as connection:
                    scoped(connection, json.dumps([mine]))
                    seen = connection.execute(sql.SQL("select distinct org_id from {}").format(relation)).fetchall()
                assert seen == [(mine,)], f"{role} in the scope of {mine} sees {seen} in {name}"

    @pytest.mark.parametrize(
        "setting", [None, "", "[]", '["*"]', '["%"]', "[\"org_a' or '1'='1\"]", '["org_a, org_b"]']
    )
    def test_no_scope_and_strange_scopes_show_nothing(
        self, cluster: Cluster, populated: str, superuser: Connection, role: str, setting: str | None
    ) -> None:
        for name, _ in relations(superuser, role):
            with psycopg.connect(cluster.plain_url(role, populated)) as connection:
                if setting is not None:
                    scoped(connection, setting)
                count = connection.execute(sql.SQL("select count(*) from {}").format(sql.SQL(name))).fetchone()
            assert count == (0,), f"{role} with scope {setting!r} sees rows of {name}"

    def test_every_readable_relation_has_a_policy(self, superuser: Connection, role: str) -> None:
        for name, _ in relations(superuser, role):
            assert superuser.execute(
                "select relrowsecurity from pg_class where oid = %s::regclass", (name,)
            ).fetchone() == (True,)


class TestOwnRows:
    def test_a_principal_reads_only_its_own_role_and_views(self, cluster: Cluster, populated: str) -> None:
        for name in ("principals", "saved_views"):
            with psycopg.connect(cluster.plain_url("dash_read", populated)) as connection:
                connection.execute("select set_config('dash.principal', 'someone', true)")
                relation = sql.Identifier("rankscope", name)
                assert connection.execute(sql.SQL("select count(*) from {}").format(relation)).fetchone() == (1,)


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


class TestNames:
    @given(mine=st.text(max_size=20), other=st.text(max_size=20))
    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    def test_any_organization_id_is_one_organization(
        self, store: Store, owner: Connection, mine: str, other: str
    ) -> None:
        """ISO-3: the scope is a JSON array; a comma list would read two names out of one."""
        owner.execute("delete from organizations")
        storable = [org for org in {mine, other} if "\0" not in org and org.encode(errors="ignore").decode() == org]
        for org in storable:
            owner.execute("insert into organizations (id, name) values (%s, 'n')", (org,))
        with store.reading(Reach.of(frozenset({mine}))) as connection:
            assert [org for (org,) in connection.execute(text("select id from organizations"))] == [
                org for org in storable if org == mine
            ]


FORBIDDEN_TO_READERS = (
    "insert into organizations (id, name) values ('x', 'x')",
    "update organizations set name = 'x'",
    "update organizations set features = '{}'",
    "delete from organizations",
    "truncate organizations",
    """insert into retrieval_ab_logs (org_id, session_id, query_text, observation_id, weighting_enabled)
         values ('x', 'x', 'x', gen_random_uuid(), true)""",
    "delete from retrieval_ab_logs",
    "update observations set weight = 0",
    """insert into rankscope.flag_changes (org_id, request_id, flag, old_state, new_state, reason, actor, source)
         values ('org_a', gen_random_uuid(), 'f', 'true', 'true', 'r', 'a', 's')""",
    "delete from rankscope.pins",
    "update rankscope.principals set role = 'admin'",
    "create table x (y int)",
    "create table rankscope.x (y int)",
    "create schema x",
    "create role x",
    "drop extension vector",
    "create function f() returns int language sql as 'select 1'",
    "alter table organizations disable row level security",
    "drop policy scope on organizations",
    "drop table organizations",
    "alter role dash_read bypassrls",
    "alter role dash_read superuser",
    "set role postgres",
    "set session authorization postgres",
    "copy organizations to program 'cat'",
    "copy organizations from '/etc/passwd'",
    "select pg_read_file('/etc/passwd')",
    "select lo_import('/etc/passwd')",
    "select * from pg_authid",
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'postgres'",
    "alter system set work_mem = '1GB'",
)

FORBIDDEN_TO_WRITERS = (
    "update organizations set name = 'x'",
    "update organizations set id = 'x'",
    "insert into organizations (id, name) values ('x', 'x')",
    "delete from organizations",
    "update observations set weight = 0",
    "update observations set content = ''",
    "delete from retrieval_ab_logs",
    "update rankscope.flag_changes set reason = 'x'",
    "delete from rankscope.flag_changes",
    "truncate rankscope.flag_changes",
    "update rankscope.drift_triage_events set note = 'x'",
    "delete from rankscope.drift_triage_events",
    "update rankscope.opposition_changes set actor = 'x'",
    "delete from rankscope.opposition_changes",
    "delete from rankscope.exports",
    "insert into rankscope.principals (name, role) values ('me', 'admin')",
    "update rankscope.principals set role = 'admin'",
    "alter table rankscope.flag_changes disable trigger all",
    "drop trigger append_only on rankscope.flag_changes",
    "create table rankscope.x (y int)",
    "drop schema rankscope cascade",
)

FORBIDDEN_TO_THE_MEMORY = (
    "update observations set content = ''",
    "update observations set org_id = 'org_b'",
    "insert into observations (org_id, content, content_hash) values ('org_a', 'x', 'x')",
    "delete from observations",
    "update sessions set work_type = 'x'",
    "insert into sessions (org_id, id) values ('org_a', 'x')",
    "update retrieval_ab_logs set injected = true",
    "delete from retrieval_ab_logs",
    "truncate retrieval_ab_logs",
    "update context_injection_logs set observation_ids = '{}'",
    "delete from context_injection_logs",
    "update observation_weight_history set new_weight = 1",
    "delete from observation_weight_history",
    "insert into session_diagnostics (org_id, session_id) values ('org_a', 'x')",
    "update organizations set features = '{}'",
    "delete from rankscope.log_writers",
    "insert into rankscope.clusters select * from rankscope.clusters",
    "select * from rankscope.principals",
    "select * from rankscope.flag_changes",
    "create table x (y int)",
)


class TestPrivileges:
    """ISO-4 and ISO-5."""

    @pytest.mark.parametrize("statement", FORBIDDEN_TO_READERS)
    def test_the_read_role_may_only_read(self, cluster: Cluster, populated: str, statement: str) -> None:
        self.refused(cluster.plain_url("dash_read", populated), statement)

    @pytest.mark.parametrize("statement", FORBIDDEN_TO_WRITERS)
    def test_the_write_role_changes_flags_and_our_own_tables(
        self, cluster: Cluster, populated: str, statement: str
    ) -> None:
        self.refused(cluster.plain_url("dash_write", populated), statement)

    @pytest.mark.parametrize("statement", FORBIDDEN_TO_THE_MEMORY)
    def test_the_memory_adds_to_its_logs_and_moves_weights_alone(
        self, cluster: Cluster, populated: str, statement: str
    ) -> None:
        self.refused(cluster.plain_url("memory_write", populated), statement)

    @staticmethod
    def refused(url: str, statement: str) -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            # Read-only by default is a courtesy that any session can undo: the privileges have to hold without it.
            connection.execute("set default_transaction_read_only = off")
            connection.execute("""select set_config('dash.orgs', '["org_a", "org_b", "org_c"]', false)""")
            with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction)):
                connection.execute(statement)

    def test_the_write_role_may_change_features_of_its_scope_alone(self, cluster: Cluster, populated: str) -> None:
        with psycopg.connect(cluster.plain_url("dash_write", populated)) as connection:
            scoped(connection, '["org_a"]')
            changed = connection.execute(
                """update organizations set features = '{"x": true}' returning id"""
            ).fetchall()
        assert changed == [("org_a",)]

    def test_the_write_role_adds_audit_rows_to_its_scope_alone(self, cluster: Cluster, populated: str) -> None:
        statement = """insert into rankscope.flag_changes
                         (org_id, request_id, flag, old_state, new_state, reason, actor, source)
                         values (%s, gen_random_uuid(), 'f', 'absent', 'true', 'because', 'who', 'page')"""
        with psycopg.connect(cluster.plain_url("dash_write", populated)) as connection:
            scoped(connection, '["org_a"]')
            with connection.transaction(force_rollback=True):
                connection.execute(statement, ("org_a",))
            scoped(connection, '["org_a"]')
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement, ("org_b",))

    def test_not_even_the_owner_changes_the_audit(self, superuser: Connection) -> None:
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
            superuser.execute("update rankscope.flag_changes set reason = 'x'")

    @pytest.mark.parametrize("role", ["dash_read", "dash_write", "memory_write"])
    def test_no_role_makes_temporary_tables(self, cluster: Cluster, template: str, role: str) -> None:
        """Asked of the migrated database itself: a clone does not inherit what was revoked from a database."""
        asked = sql.SQL("select has_database_privilege({}, {}, 'temporary')").format(role, template)
        assert cluster.run(asked) == [(False,)]

    @pytest.mark.parametrize("role", ["dash_read", "dash_write", "memory_write"])
    def test_no_role_has_powers_or_owns_anything(self, superuser: Connection, role: str) -> None:
        powers = "rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication"
        assert superuser.execute(
            sql.SQL("select {} from pg_roles where rolname = %s").format(sql.SQL(powers)), (role,)
        ).fetchone() == (False,)
        owned = "select count(*) from pg_class where relowner = %s::regrole"
        assert superuser.execute(owned, (role,)).fetchone() == (0,)

    def test_the_read_role_sees_no_statistics_of_foreign_rows(
        self, cluster: Cluster, populated: str, superuser: Connection
    ) -> None:
        superuser.execute("analyze")
        with psycopg.connect(cluster.plain_url("dash_read", populated)) as connection:
            assert connection.execute("select count(*) from pg_stats where tablename = 'organizations'").fetchone() == (
                0,
            )


class TestGap:
    """What the banner says of a login that the database does not keep to its scope."""

    @pytest.mark.parametrize(
        ("role", "change", "expected"),
        [
            ("dash_read", "select 1", None),
            ("postgres", "select 1", "connected as superuser"),
            ("dash_read", "alter table retrieval_ab_logs disable row level security", "row security is off"),
            ("memory_write", "drop table retrieval_ab_logs", None),
            ("dash_read", "alter table sessions owner to dash_read", "owns the tables"),
            ("dash_read", "alter role dash_read bypassrls", "bypasses row security"),
        ],
    )
    def test_it_names_the_reason(  # noqa: PLR0917 - fixtures and cases come as arguments
        self, cluster: Cluster, store_database: str, owner: Connection, role: str, change: str, expected: str | None
    ) -> None:
        owner.execute(change)
        engine = make_engine(cluster.url(role, store_database), name="gap")
        with engine.connect() as connection:
            found = gap(connection)
        engine.dispose()
        owner.execute("alter role dash_read nobypassrls")  # roles belong to the whole server
        assert (found is None) if expected is None else expected in (found or "")


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


@pytest.fixture(autouse=True)
def _no_leftover_connections(cluster: Cluster) -> Iterator[None]:
    yield
    left = cluster.run("select count(*) from pg_stat_activity where usename like 'dash%' and state like 'idle in%'")
    assert left == [(0,)]
