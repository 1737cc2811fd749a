"""What /readyz shows of the retrieval log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import requests

from retrieval.log import LogWriter
from tests.retrieval.logs import memory_store, retrieval

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.app_server import AppServer
    from tests.conftest import Cluster

    Serve = Callable[..., AppServer]


class TestRetrievalLog:
    """What other processes logged and lost is seen where the application is watched."""

    def test_readyz_counts_what_was_lost(self, serve: Serve, cluster: Cluster, store_database: str) -> None:
        memory = memory_store(cluster, store_database)
        with LogWriter(memory) as writer:
            writer.log(retrieval(3))
            writer.log(retrieval(token_budget=2**40))
        memory.close()
        server = serve(DATABASE_URL=cluster.plain_url("dash_read", store_database))
        assert shown_log(server) == {"queued": 0, "written": 1, "rows": 3, "dropped": 0, "failed": 1}

    def test_a_store_that_cannot_tell_is_ready_and_shows_no_zeros(
        self, serve: Serve, cluster: Cluster, empty_database: str
    ) -> None:
        server = serve(DATABASE_URL=cluster.plain_url("postgres", empty_database))
        answer = requests.get(f"{server.url}/readyz", timeout=5)
        assert (answer.status_code, answer.json()) == (200, {"ready": True, "retrieval_log": None})


def shown_log(server: AppServer) -> object:
    """What /readyz shows of the log, as soon as it shows something."""
    until = time.monotonic() + 20
    while (shown := requests.get(f"{server.url}/readyz", timeout=5).json()["retrieval_log"]) is None:
        assert time.monotonic() < until
        time.sleep(0.1)
    return shown
