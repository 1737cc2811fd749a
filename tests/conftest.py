"""What every test may ask for: a real Postgres, a database of its own, the application, a browser."""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import settings
from psycopg import sql

from queries import embedded
from queries.engine import Store, make_engine
from queries.migrate import migrate
from queries.owner import owning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.app_server import AppServer

settings.register_profile("untimed", deadline=None)  # on a busy machine an example may take any time
settings.load_profile("untimed")

TEMPLATE = "template_store"
NOW = datetime(2026, 3, 29, 12, tzinfo=UTC)  # the demo's


class Cluster:
    """A private Postgres server; databases are made and dropped in milliseconds."""

    def __init__(self, lease: embedded.Lease) -> None:
        self.lease = lease
        self.made = 0

    def url(self, role: str = "postgres", database: str = "postgres") -> str:
        return self.lease.url(role, database)

    def run(self, statement: str | sql.SQL | sql.Composed, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run one statement as superuser and return its rows."""
        with psycopg.connect(self.plain_url("postgres", database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def plain_url(self, role: str = "postgres", database: str = "postgres") -> str:
        """The URL as libpq takes it, without SQLAlchemy's driver name."""
        return self.url(role, database).replace("+psycopg", "")

    def create(self, template: str | None = None) -> str:
        self.made += 1
        name = f"test_{self.made}"
        source = sql.Identifier(template or "template0")
        self.run(sql.SQL("create database {} template {}").format(sql.Identifier(name), source))
        return name

    def drop(self, name: str) -> None:
        self.run(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


def start_cluster(*, durable: bool = False) -> Cluster:
    """A server in a folder of its own, which others may enter: as root, Postgres runs as another user."""
    folder = Path(tempfile.mkdtemp(prefix="rankscope-test-"))
    folder.chmod(0o711)
    return Cluster(embedded.start(folder, durable=durable))


def stop_cluster(cluster: Cluster) -> None:
    cluster.lease.release()
    shutil.rmtree(cluster.lease.home)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """The server that all tests of this run share; a test that kills servers starts its own."""
    shared = start_cluster()
    yield shared
    stop_cluster(shared)


@pytest.fixture
def own_cluster() -> Iterator[Cluster]:
    """A server of this test alone, to be killed and stopped."""
    made = start_cluster()
    yield made
    stop_cluster(made)


def make_template(cluster: Cluster) -> str:
    """A database of ours without data, migrated once, to be cloned."""
    cluster.run(sql.SQL("create database {}").format(sql.Identifier(TEMPLATE)))
    engine = make_engine(cluster.url(database=TEMPLATE), name="template")
    migrate(engine, create_store=True)
    engine.dispose()
    return TEMPLATE


@pytest.fixture(scope="session")
def template(cluster: Cluster) -> str:
    """A database migrated once, to be cloned per test."""
    return make_template(cluster)


@pytest.fixture
def empty_database(cluster: Cluster) -> Iterator[str]:
    name = cluster.create()
    yield name
    cluster.drop(name)


@pytest.fixture
def store_database(cluster: Cluster, template: str) -> Iterator[str]:
    """A migrated store without data."""
    name = cluster.create(template)
    yield name
    cluster.drop(name)


@pytest.fixture
def store(cluster: Cluster, store_database: str) -> Iterator[Store]:
    """A migrated store as the pages see it: read and write logins without any privilege beyond theirs."""
    opened = Store(
        make_engine(cluster.url("dash_read", store_database), name="test"),
        make_engine(cluster.url("dash_write", store_database), name="test write"),
    )
    yield opened
    opened.close()


@pytest.fixture
def owner(cluster: Cluster, store_database: str) -> Iterator[psycopg.Connection[Any]]:
    """The store's owner, whom row security does not bind: for planting rows."""
    with psycopg.connect(cluster.plain_url("postgres", store_database), autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def demo_database(cluster: Cluster, template: str) -> Iterator[str]:
    """A store with a small demo in it; no test changes it."""
    from jobs.demo.load import fill  # noqa: PLC0415 - the demo's texts and vectors, which most tests do not need
    from jobs.demo.sizes import SMALL  # noqa: PLC0415

    name = cluster.create(template)
    with owning(cluster.url("postgres", name)) as engine, engine.begin() as connection:
        fill(connection, NOW, SMALL)
    yield name
    cluster.drop(name)


@pytest.fixture
def serve() -> Iterator[object]:
    """Start the application on a free port; every one started is stopped after the test."""
    from tests.app_server import AppServer  # noqa: PLC0415 - imports Streamlit, which most tests do not need

    started: list[AppServer] = []

    def start(**options: Any) -> AppServer:  # noqa: ANN401 - AppServer's own, and the environment
        started.append(AppServer(**options))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture(scope="session")
def tiny_embedder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an ONNX embedder of a few kilobytes."""
    from tests.tiny_models import write_embedder  # noqa: PLC0415 - most tests need no model

    return write_embedder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def tiny_scorer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an ONNX cross-encoder of a few kilobytes."""
    from tests.tiny_models import write_cross_encoder  # noqa: PLC0415 - same

    return write_cross_encoder(tmp_path_factory.mktemp("models") / "tiny-pairs")
