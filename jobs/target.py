"""The store a job works on: the one the settings name, or the embedded one."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobs.terminal import printable
from queries.embedded import DATABASE, start
from queries.engine import LIST, Store
from queries.errors import StoreError
from queries.organizations import unknown_organizations, unknown_project
from queries.owner import create_database, open_engine, owning
from queries.scope import Reach, is_storable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Engine

    from settings import Settings

NOT_MADE_YET = "The embedded store was not made yet: `python -m jobs demo` makes it."
OWNER_NEEDED = "This needs the owner's login: set RANKSCOPE_OWNER_URL."


class NotMadeYetError(Exception):
    """A job that reads the embedded store came before the one that makes it."""


class UnknownNameError(Exception):
    """The command line names what the store does not have."""


@dataclass(frozen=True)
class Target:
    """A store open to its owner, and whether it is the embedded one."""

    engine: Engine
    embedded: bool


@contextmanager
def owned(settings: Settings) -> Iterator[Target]:
    """The owner's engine on the settings' store; the embedded server is started for as long as this lasts."""
    url = settings.owner_url or settings.database_url
    if url is None:
        with embedded(settings.data_folder) as engine:
            yield Target(engine, embedded=True)
        return
    try:
        with owning(url) as engine:
            yield Target(engine, embedded=False)
    except StoreError as error:
        if settings.owner_url is None and error.kind in ("privilege", "read_only"):
            raise StoreError(error.kind, f"{error.sentence} {OWNER_NEEDED}", error.sqlstate) from error
        raise


@contextmanager
def embedded(folder: Path, *, linger: bool = False) -> Iterator[Engine]:
    """The owner's engine on the embedded store, whose database is created if missing.

    With ``linger`` the server outlives this for a few seconds, so that whoever starts next finds it running.
    """
    with start(folder) as lease:
        with owning(lease.url()) as engine:
            create_database(engine, DATABASE)
        with owning(lease.url(database=DATABASE)) as engine:
            yield engine
        if linger:
            lease.release(linger=True)


@contextmanager
def opened(settings: Settings) -> Iterator[Store]:
    """The store as the application opens it, closed afterwards."""
    if settings.database_url is None:
        if not settings.data_folder.exists():
            raise NotMadeYetError(NOT_MADE_YET)
        with start(settings.data_folder) as lease:
            yield from _store(lease.url("dash_read", DATABASE), lease.url("dash_write", DATABASE))
    else:
        yield from _store(settings.database_url, settings.write_url)


def refuse_unknown(store: Store, org: str, project: str | None) -> None:
    """Stop at a mistyped name, for which nothing found would be the answer, too."""
    with store.reading(Reach.of(frozenset({org})), LIST, name="names") as connection:
        if not is_storable(org) or unknown_organizations(connection, (org,)):
            raise UnknownNameError(f"no such organization: {printable(org)}")
        if project is not None and (not is_storable(project) or unknown_project(connection, org, project)):
            raise UnknownNameError(f"no such project in {printable(org)}: {printable(project)}")


def _store(reader: str, writer: str | None) -> Iterator[Store]:
    store = Store(open_engine(reader), open_engine(writer) if writer else None)
    try:
        yield store
    finally:
        store.close()
