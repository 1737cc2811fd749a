"""``python -m jobs migrate``: bring schema rankscope up to date; with ``--create-store`` the platform's tables too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs.target import owned
from queries import schema
from queries.migrate import migrate, revisions
from queries.shape import columns

if TYPE_CHECKING:
    import argparse

    from sqlalchemy import Engine

    from settings import Settings


class MigrateError(Exception):
    """A migration that was refused before it began."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "--create-store",
        action="store_true",
        help="also create the platform's tables, roles and row security in an empty schema public",
    )


def main(args: argparse.Namespace, settings: Settings) -> int:
    """Migrate, and print where the store was and where it is."""
    with owned(settings) as target:
        create_store = target.embedded or args.create_store
        before = current(target.engine, create_store=create_store)
        after = migrate(target.engine, create_store=create_store)
    print(f"before  {in_words(before)}")
    print(f"after   {in_words(after)}")
    return 0


def current(engine: Engine, *, create_store: bool) -> tuple[str, ...]:
    """The revisions before; refuses to create a store over the tables of another."""
    with engine.connect() as connection:
        found = revisions(connection)
        if create_store and not any(revision.startswith("platform") for revision in found):
            in_the_way = sorted(columns(connection).keys() & schema.platform.tables.keys())
            if in_the_way:
                raise MigrateError(
                    f"--create-store expects an empty schema public; found {', '.join(in_the_way)}. "
                    "Leave the option out to add only schema rankscope."
                )
        return found


def in_words(revisions: tuple[str, ...]) -> str:
    """Revisions as a list, or that there are none."""
    return ", ".join(revisions) or "never migrated"
