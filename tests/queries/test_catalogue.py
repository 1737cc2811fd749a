from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import psycopg
import pytest

from queries import mending, schema
from queries.catalogue import read_catalogue
from queries.findings import INDEXES, REQUIRED, judge
from queries.scope import EVERYTHING
from queries.shape import ADDED_LOG_COLUMNS, DOCUMENTED_LOG_COLUMNS

if TYPE_CHECKING:
    from queries.catalogue import Catalogue
    from queries.engine import Store
    from queries.findings import Finding
    from tests.conftest import Cluster

    Owner = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def catalogue(store: Store) -> Catalogue:
    with store.reading(EVERYTHING) as connection:
        return read_catalogue(connection)


def columns(connection: Owner) -> set[tuple[object, ...]]:
    found = connection.execute(
        "select table_name, column_name from information_schema.columns where table_schema = 'public'"
    )
    return set(found)


def judged(found: Catalogue) -> dict[str, Finding]:
    return {finding.name: finding for finding in judge(found)}


class TestReadCatalogue:
    def test_the_login_and_the_server(self, catalogue: Catalogue) -> None:
        assert catalogue.version_number >= 140000
        assert (catalogue.superuser, catalogue.bypasses_row_security) == (False, False)
        assert (catalogue.standby, catalogue.read_only) == (False, False)
        assert catalogue.vector is not None
        assert catalogue.roles == {"dash_read", "dash_write", "memory_write"}

    def test_every_platform_table_with_every_column(self, catalogue: Catalogue) -> None:
        for name, table in schema.platform.tables.items():
            facts = catalogue.tables[name]
            assert list(facts.columns) == [column.name for column in table.columns]
            assert (facts.kind, facts.owned, facts.secured) == ("r", False, True)
            assert facts.policies == ((True, True),)
            assert all(column.readable for column in facts.columns.values())

    def test_nullable_as_the_schema_says(self, catalogue: Catalogue) -> None:
        for name, table in schema.platform.tables.items():
            for column in table.columns:
                assert catalogue.tables[name].columns[column.name].nullable == column.nullable, (name, column.name)

    def test_a_login_s_own_read_only_default_is_not_the_server_s(self, store: Store) -> None:
        with store.reading(EVERYTHING) as connection:
            assert connection.exec_driver_sql("show default_transaction_read_only").scalar_one() == "on"
            assert read_catalogue(connection).read_only is False


class TestJudge:
    def test_a_store_of_ours_lacks_nothing(self, catalogue: Catalogue) -> None:
        assert {finding.state for finding in judge(catalogue)} == {"ok"}

    def test_a_server_that_is_too_old(self, catalogue: Catalogue) -> None:
        found = judged(replace(catalogue, version_number=130021, version="13.21"))["server"]
        assert found.prevents_serving
        assert found.sentence == "Rankscope needs PostgreSQL 14 or later; this server is 13.21."

    def test_a_standby(self, catalogue: Catalogue) -> None:
        found = judged(replace(catalogue, standby=True))["writes"]
        assert (found.state, found.prevents_serving) == ("degraded", False)
        assert found.sentence == "This server is a standby: pages work, changes need the primary."

    @pytest.mark.parametrize(
        ("available", "words"), [("0.8.5", "it is available on this server"), (None, "install it there")]
    )
    def test_pgvector_that_is_not_installed(self, catalogue: Catalogue, available: str | None, words: str) -> None:
        found = judged(replace(catalogue, vector=None, vector_available=available))["pgvector"]
        assert (found.state, found.prevents_serving) == ("missing", False)
        assert words in found.sentence

    def test_counters_switched_off_and_tables_never_analyzed(self, catalogue: Catalogue) -> None:
        unknown = {name: replace(facts, unknown_size=name == "sessions") for name, facts in catalogue.tables.items()}
        found = judged(replace(catalogue, settings={"track_counts": "off", "work_mem": "65536"}, tables=unknown))
        assert found["setting track_counts"].state == "degraded"
        assert found["statistics"].mend == "analyze public.sessions;"

    def test_roles_that_are_missing(self, catalogue: Catalogue) -> None:
        found = judged(replace(catalogue, roles=frozenset({"dash_read"})))["roles"]
        assert found.sentence == "The roles are missing: dash_write, memory_write."
        assert "create role" in found.mend
        assert "grant select on public.organizations, public.projects," in found.mend
        assert "grant update (features) on public.organizations to dash_write;" in found.mend


class TestAsDocumented:
    def test_what_001_logs_is_required_and_the_additions_are_not(self) -> None:
        log = {column.name for column in schema.retrieval_ab_logs.columns}
        assert set(REQUIRED["retrieval_ab_logs"]) == set(DOCUMENTED_LOG_COLUMNS)
        assert log - set(DOCUMENTED_LOG_COLUMNS) == set(ADDED_LOG_COLUMNS)

    def test_every_required_column_is_in_the_schema(self) -> None:
        for table, columns in REQUIRED.items():
            assert set(columns) <= {column.name for column in schema.platform.tables[table].columns}


class TestMending:
    """Each piece of SQL that doctor prints does run, and does what it says."""

    @pytest.mark.parametrize("table", schema.platform.tables)
    def test_a_column_that_was_dropped_comes_back_over_rows(self, owner: Owner, table: str) -> None:
        for column in schema.platform.tables[table].columns:
            owner.execute(f"alter table {table} drop column if exists {column.name} cascade".encode())
            owner.execute(mending.add_columns(table, [column.name]).encode())
            assert (table, column.name) in columns(owner)

    def test_a_table_comes_back(self, cluster: Cluster, empty_database: str) -> None:
        address = cluster.plain_url("postgres", empty_database)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("create extension vector")
            for name, table in schema.platform.tables.items():
                connection.execute(mending.create_table(name).encode())
                assert {(name, column.name) for column in table.columns} <= columns(connection)

    @pytest.mark.parametrize("name", INDEXES)
    def test_an_index_comes_back(self, owner: Owner, store: Store, name: str) -> None:
        name = name.rpartition(" ")[-1]
        owner.execute(f"drop index {name}".encode())
        with store.reading(EVERYTHING) as connection:
            found = judged(read_catalogue(connection))[f"index {name}"]
        assert found.state == "degraded"
        owner.execute(found.mend.encode())
        with store.reading(EVERYTHING) as connection:
            assert judged(read_catalogue(connection))[f"index {name}"].state == "ok"

    def test_the_memory_s_rights_come_back(self, owner: Owner, store: Store) -> None:
        owner.execute("revoke all on all tables in schema public from memory_write")
        owner.execute("revoke usage on schema public from memory_write")
        with store.reading(EVERYTHING) as connection:
            found = judged(read_catalogue(connection))["memory role"]
        assert found.state == "degraded"
        assert found.sentence.startswith("The role memory_write lacks rights on context_injection_logs, observation_")
        assert "grant update (weight) on public.observations to memory_write;" in found.mend
        owner.execute(found.mend.encode())
        with store.reading(EVERYTHING) as connection:
            assert judged(read_catalogue(connection))["memory role"].state == "ok"

    def test_an_index_that_is_not_unique_does_not_keep_retrievals_apart(self, owner: Owner, store: Store) -> None:
        owner.execute("drop index injections_retrieval")
        owner.execute("create index plain on context_injection_logs (org_id, retrieval_id)")
        with store.reading(EVERYTHING) as connection:
            found = judged(read_catalogue(connection))["index injections_retrieval"]
        assert found.sentence.startswith("No unique index on context_injection_logs serves")
        assert found.mend.startswith("create unique index concurrently injections_retrieval on public.context")

    @pytest.mark.parametrize(
        ("name", "expected"), [("dash_read", "dash_read"), ("Ä x", '"Ä x"'), ('a"; drop', '"a""; drop"'), ("", '""')]
    )
    def test_names_are_quoted(self, name: str, expected: str) -> None:
        assert mending.quoted(name) == expected
