"""Bring a store up to date: both branches on a store that is ours, only schema ``rankscope`` elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

FOLDER = Path(__file__).parent / "migrations"
# Any number will do, as long as no other software on the same database picks it for its own advisory lock.
LOCK = 0x52414E4B53434F50


def migrate(engine: Engine, *, create_store: bool) -> tuple[str, ...]:
    """Apply what is missing in one transaction and return the revisions the store is at afterwards.

    ``create_store`` also applies the platform branch; without it nothing outside schema ``rankscope`` changes.
    """
    with engine.begin() as connection:
        connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        if revisions(connection) == targets(create_store=create_store):
            return revisions(connection)
        connection.execute(text("create schema if not exists rankscope"))
        config = _config()
        config.attributes["connection"] = connection
        # The platform comes first: it makes the roles that our schema grants to.
        for branch in ("platform", "rankscope") if create_store else ("rankscope",):
            command.upgrade(config, f"{branch}@head")
        return revisions(connection)


def revisions(connection: Connection) -> tuple[str, ...]:
    """The revisions a store is at, in alphabetical order; empty for a store never migrated."""
    context = MigrationContext.configure(connection, opts={"version_table_schema": "rankscope"})
    return tuple(sorted(context.get_current_heads()))


def targets(*, create_store: bool) -> tuple[str, ...]:
    """The revisions a store should be at."""
    heads = ScriptDirectory.from_config(_config()).get_heads()
    return tuple(sorted(head for head in heads if create_store or head.startswith("rankscope")))


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    return config
