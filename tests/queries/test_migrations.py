"""The store that the migrations make is the store that the tables describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from queries import own_schema, schema
from queries.engine import make_engine
from queries.migrate import migrate, revisions, targets

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from sqlalchemy import Engine

    from tests.conftest import Cluster


@pytest.fixture
def engine(cluster: Cluster, empty_database: str) -> Iterator[Engine]:
    opened = make_engine(cluster.url(database=empty_database), name="migrations")
    yield opened
    opened.dispose()


@pytest.mark.parametrize("metadata", [schema.platform, own_schema.ours], ids=["platform", "rankscope"])
def test_tables_and_migrations_agree_on_every_column(cluster: Cluster, template: str, metadata: Any) -> None:  # noqa: ANN401 - SQLAlchemy's MetaData
    def is_ours(_object: object, name: str | None, kind: str, _reflected: bool, _other: object) -> bool:  # noqa: FBT001 - Alembic's signature
        # indexes, keys and checks stand in the migrations alone
        return kind in ("table", "column") and name != "alembic_version"

    engine = make_engine(cluster.url(database=template), name="compare")
    with engine.connect() as connection:
        options = {
            "compare_type": True,
            "include_object": is_ours,
            "include_schemas": metadata.schema is not None,
            "include_name": lambda name, kind, _parents: kind != "schema" or name == metadata.schema,
        }
        differences = compare_metadata(MigrationContext.configure(connection, opts=options), metadata)
    engine.dispose()
    assert differences == []


def test_every_index_says_which_query_it_serves(cluster: Cluster, template: str) -> None:
    silent = cluster.run(
        """select i.indexrelid::regclass::text from pg_index i join pg_class c on c.oid = i.indrelid
            join pg_namespace n on n.oid = c.relnamespace
           where n.nspname in ('public', 'rankscope') and not i.indisprimary and c.relname <> 'alembic_version'
             and obj_description(i.indexrelid) is null""",
        template,
    )
    assert silent == []


def test_every_tenant_key_leads_with_the_organization(cluster: Cluster, template: str) -> None:
    keys = cluster.run(
        """select c.relname, a.attname from pg_index i join pg_class c on c.oid = i.indrelid
            join pg_namespace n on n.oid = c.relnamespace
            join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
           where i.indisprimary and n.nspname in ('public', 'rankscope')""",
        template,
    )
    others = {"organizations": "id", "alembic_version": "version_num", "principals": "name", "saved_views": "principal"}
    assert {name: column for name, column in keys if column != "org_id"} == others


class TestMigrate:
    def test_twice_in_a_row_changes_nothing(self, engine: Engine) -> None:
        assert migrate(engine, create_store=True) == ("platform_0003", "rankscope_0007")
        assert migrate(engine, create_store=True) == ("platform_0003", "rankscope_0007")

    def test_an_existing_store_gains_only_our_schema(self, engine: Engine) -> None:
        assert migrate(engine, create_store=False) == ("rankscope_0007",)
        with engine.connect() as connection:
            made = connection.execute(
                text("select nspname from pg_namespace where nspname !~ '^(pg_|information|public)'")
            ).scalars()
            assert list(made) == ["rankscope"]

    def test_a_failure_leaves_the_store_as_it_was(self, engine: Engine) -> None:
        with engine.begin() as connection:
            connection.execute(text("create table retrieval_ab_logs (x int)"))
        with pytest.raises(Exception, match="retrieval_ab_logs"):
            migrate(engine, create_store=True)
        with engine.connect() as connection:
            assert revisions(connection) == ()
            assert connection.execute(text("select to_regclass('organizations')")).scalar_one() is None

    def test_a_store_never_migrated_is_at_no_revision(self, engine: Engine) -> None:
        with engine.connect() as connection:
            assert revisions(connection) == ()

    def test_targets_name_both_branches(self) -> None:
        assert targets(create_store=True) == ("platform_0003", "rankscope_0007")
        assert targets(create_store=False) == ("rankscope_0007",)


def test_full_text_uses_its_index_under_row_security(
    cluster: Cluster, owner: psycopg.Connection[Any], store_database: str
) -> None:
    owner.execute("insert into organizations (id, name) values ('org_a', 'A')")
    owner.execute(
        """insert into observations (org_id, content, content_hash)
           select 'org_a', 'note number ' || i || case when i % 5000 = 0 then ' zebra' else '' end, i::text
             from generate_series(1, 20000) i"""
    )
    owner.execute("analyze observations")
    plan = "explain select id from observations where org_id = 'org_a' and search @@ to_tsquery('english', 'zebra')"
    engine = make_engine(cluster.url("dash_read", store_database), name="plan")
    with engine.connect() as connection:
        connection.execute(text("""select set_config('dash.orgs', '["org_a"]', true)"""))
        assert "observations_search" in "\n".join(connection.execute(text(plan)).scalars())
    engine.dispose()
