"""The application on a store with a demo in it, whose past ends today."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from jobs.demo.load import fill
from jobs.demo.sizes import SMALL
from queries.owner import owning
from tests.app_server import AppServer
from tests.jobs.command import jobs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jobs.demo.sizes import Size
    from tests.conftest import Cluster


@contextmanager
def demo_server(
    cluster: Cluster,
    template: str,
    *,
    size: Size = SMALL,
    aggregated: bool = False,
    arguments: tuple[str, ...] = (),
) -> Iterator[AppServer]:
    """Reads and writes; ``aggregated``: with the clusters and contradictions that the aggregator finds."""
    name = cluster.create(template)
    with owning(cluster.url("postgres", name)) as engine, engine.begin() as connection:
        fill(connection, datetime.now(UTC), size)
    logins: dict[str, Any] = {
        "DATABASE_URL": cluster.plain_url("dash_read", name),
        "RANKSCOPE_WRITE_URL": cluster.plain_url("dash_write", name),
    }
    if aggregated:
        done = jobs("aggregate", **logins)
        assert done.returncode == 0, done.stderr
    server = AppServer(arguments=arguments, **logins)
    try:
        yield server
    finally:
        server.stop()
        cluster.drop(name)
