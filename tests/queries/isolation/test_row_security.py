"""Tenants are kept apart by the database, row by row, whatever an organization is called: ISO-1 and 3 of the bar."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import sql
from sqlalchemy import text

from queries.engine import Store, make_engine
from queries.isolation import gap
from queries.scope import Reach
from tests.queries.isolation.planted import ORGS, relations, scoped

if TYPE_CHECKING:
    from tests.conftest import Cluster

    Connection = psycopg.Connection[Any]


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
