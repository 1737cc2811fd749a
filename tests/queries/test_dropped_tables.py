"""A table of ours that is no longer there: gone, back as it was, and in no grant that is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from alembic import command
from sqlalchemy import text

from queries.engine import make_engine
from queries.mending import DROPPED, OUR_GRANTS
from queries.migrate import _config

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from tests.conftest import Cluster

ABOUT = text(
    """select c.relname, c.relrowsecurity, c.relacl::text,
              (select string_agg(p.polname || pg_get_expr(p.polqual, c.oid) || pg_get_expr(p.polwithcheck, c.oid), ';')
                 from pg_policy p where p.polrelid = c.oid),
              (select string_agg(a.attname || format_type(a.atttypid, -1) || a.attnotnull, ';' order by a.attnum)
                 from pg_attribute a where a.attrelid = c.oid and a.attnum > 0),
              (select string_agg(pg_get_constraintdef(k.oid), ';' order by k.conname)
                 from pg_constraint k where k.conrelid = c.oid)
         from pg_class c where c.relnamespace = 'rankscope'::regnamespace and c.relname = any(:names)"""
)


@pytest.fixture
def connection(cluster: Cluster, empty_database: str) -> Iterator[Connection]:
    """A store of our own as it was before the tables were dropped."""
    engine = make_engine(cluster.url(database=empty_database), name="dropped")
    with engine.begin() as opened:
        opened.execute(text("create schema rankscope"))
        at(opened, "platform@head")
        at(opened, "rankscope_0006")
        yield opened
    engine.dispose()


def at(connection: Connection, revision: str, *, back: bool = False) -> None:
    config = _config()
    config.attributes["connection"] = connection
    (command.downgrade if back else command.upgrade)(config, revision)


def about(connection: Connection) -> list[Any]:
    return list(connection.execute(ABOUT, {"names": list(DROPPED)}).all())


def test_they_are_gone_and_come_back_as_they_were(connection: Connection) -> None:
    before = about(connection)
    assert [row.relname for row in before] == list(DROPPED)
    at(connection, "rankscope@head")
    assert about(connection) == []
    at(connection, "rankscope_0006", back=True)
    assert about(connection) == before


@pytest.mark.parametrize("revision", ["rankscope_0006", "rankscope@head"])
def test_the_grants_that_doctor_prints_run_before_and_after(connection: Connection, revision: str) -> None:
    at(connection, revision)
    connection.execute(text(OUR_GRANTS))
    held = "select has_table_privilege('dash_write', 'rankscope.pins', 'insert, update, delete')"
    assert connection.execute(text(held)).scalar_one() is True
