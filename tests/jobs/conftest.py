from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from jobs.__main__ import run as command
from jobs.demo.history import History, replay
from jobs.demo.load import SEED, fill
from jobs.demo.sizes import DEFAULT, SMALL
from jobs.demo.story import Story, tell
from jobs.demo.texts import organizations
from jobs.demo.vectors import embed
from queries.owner import owning
from tests.jobs.stores import FOREIGN, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cluster
    from tests.jobs.aggregated import Aggregate

NOW = datetime(2026, 3, 29, 12, tzinfo=UTC)


@pytest.fixture
def foreign(cluster: Cluster, empty_database: str) -> str:
    """The owner's address of a store that is not ours."""
    address = cluster.url("postgres", empty_database)
    run(address, FOREIGN.read_text(encoding="utf-8"))
    return address


@pytest.fixture
def owned(cluster: Cluster, store_database: str) -> str:
    """The owner's address of a store of ours, without data."""
    return cluster.url("postgres", store_database)


@pytest.fixture
def readable(cluster: Cluster, store_database: str) -> str:
    """The read login's address of the same store."""
    return cluster.url("dash_read", store_database)


@pytest.fixture(scope="session")
def filled(cluster: Cluster, template: str) -> Iterator[str]:
    """The owner's address of a store with a small demo in it; no test changes it."""
    name = cluster.create(template)
    assert filled_now(cluster.url("postgres", name)) is not None
    yield cluster.url("postgres", name)
    cluster.drop(name)


def filled_now(address: str) -> dict[str, int] | None:
    with owning(address) as engine, engine.begin() as connection:
        return fill(connection, NOW, SMALL)


@pytest.fixture(scope="session")
def stories() -> list[Story]:
    """The organizations of a demo of the default size, told but not yet lived."""
    return [tell(org, DEFAULT, NOW, SEED) for org in organizations()]


@pytest.fixture(scope="session")
def lived(stories: list[Story]) -> dict[str, History]:
    """The same organizations with their sessions replayed, by id."""
    found = {}
    for story in stories:
        vectors = embed([entry.memory.text for entry in story.placed])
        found[story.org.id] = replay(story, vectors)
    return found


@pytest.fixture
def logins(cluster: Cluster, store_database: str) -> dict[str, str]:
    """The logins of a store that is not embedded."""
    return {
        "DATABASE_URL": cluster.url("dash_read", store_database),
        "RANKSCOPE_WRITE_URL": cluster.url("dash_write", store_database),
    }


@pytest.fixture
def aggregate(logins: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Aggregate:
    """One pass in this process: its exit code and its lines."""
    for name, value in logins.items():
        monkeypatch.setenv(name, value)

    def once(*arguments: str) -> tuple[int, list[str]]:
        code = command(["aggregate", *arguments])
        return code, capsys.readouterr().out.splitlines()

    return once
