from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ranking import LexicalScorer
from retrieval import log
from retrieval.log import LogWriter
from retrieval.memory import Memory
from tests import sample
from tests.retrieval.asked import plant_three
from tests.retrieval.logs import memory_store
from tests.retrieval.planted import EMBEDDER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    import psycopg

    from queries.engine import Store
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]


@pytest.fixture
def small(owner: Owner) -> list[str]:
    """The three observations of ``plant_three``, farthest from the question first."""
    return plant_three(owner)


@pytest.fixture
def platform(cluster: Cluster, store_database: str) -> Iterator[Store]:
    """The store as an agent platform opens it, over its own login."""
    opened = memory_store(cluster, store_database)
    yield opened
    opened.close()


@pytest.fixture
def memory(platform: Store) -> Iterator[Memory]:
    """What an agent platform retrieves with: an embedder, a scorer and a log."""
    writer = LogWriter(platform)
    yield Memory(platform, EMBEDDER, LexicalScorer(), writer)
    writer.stop()


@pytest.fixture
def bare(platform: Store) -> Memory:
    """A memory with its embedder alone."""
    return Memory(platform, EMBEDDER)


@pytest.fixture
def observations(owner: Owner) -> list[UUID]:
    """Six observations of one organization, to be given to sessions."""
    sample.add_organization(owner, "org_a")
    return sample.add_observations(owner, "org_a", 6)


@pytest.fixture
def _no_process_writer(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(log._Process, "writer", None)
    monkeypatch.setattr(log._Process, "warned", False)
    yield
    if log._Process.writer is not None:
        log._Process.writer.stop()
