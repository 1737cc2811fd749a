"""What each role may do, and what none of them may: ISO-4 and 5 of the bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from tests.queries.isolation.planted import scoped

if TYPE_CHECKING:
    from tests.conftest import Cluster

    Connection = psycopg.Connection[Any]

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
