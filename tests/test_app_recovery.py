"""The application through faults of its database: REC-1, 2 and 4 of the bar."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import psutil
import psycopg
import requests

from queries.engine import make_engine
from queries.errors import UNREACHABLE
from queries.migrate import migrate
from tests import sample
from tests.driver import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.app_server import AppServer
    from tests.conftest import Cluster

    Serve = Callable[..., AppServer]


class TestRecovery:
    def test_pages_survive_kill_9_of_the_database_without_a_restart(self, serve: Serve, own_cluster: Cluster) -> None:
        """REC-1 and REC-2: a plain sentence within 2 s, and figures again once the database is back."""
        prepare(own_cluster)
        server = serve(DATABASE_URL=own_cluster.plain_url("dash_read", "rankscope"))
        with Session(server.url) as session:
            assert session.run().bodies("alert") == []
            # the keeper first, which would put the database back before anyone could notice
            keeper = psutil.Process(own_cluster.lease._state().keeper)
            postmaster = psutil.Process(own_cluster.lease.pid)
            keeper.suspend()
            for process in (*postmaster.children(), postmaster, keeper):
                with suppress(psutil.NoSuchProcess):  # one that ends because another was killed
                    process.kill()
            session.query = "window=90d"  # asked for the first time, so that no cache answers
            session.run()
            assert session.bodies("alert") == [UNREACHABLE]
            assert session.seconds < 2
            assert session.bodies("exception") == []
            assert requests.get(f"{server.url}/healthz", timeout=2).status_code == 200
            assert requests.get(f"{server.url}/readyz", timeout=2).status_code == 503
            own_cluster.lease.ensure()
            session.run()
            assert session.bodies("alert") == []
            assert session.seconds < 2
        pool = "select count(*) from pg_stat_activity where application_name like 'rankscope%'"
        assert own_cluster.run(pool)[0][0] in range(1, 14)

    def test_a_frozen_database_lets_go_of_the_page(self, serve: Serve, own_cluster: Cluster) -> None:
        """REC-4, on the page."""
        prepare(own_cluster)
        server = serve(DATABASE_URL=own_cluster.plain_url("dash_read", "rankscope"))
        with Session(server.url) as session:
            session.run()
            postmaster = psutil.Process(own_cluster.lease.pid)
            frozen = [postmaster, *postmaster.children(recursive=True)]
            for process in frozen:
                process.suspend()
            try:
                session.query = "window=90d"
                session.run()
                assert session.seconds < 10
                assert len(session.bodies("alert")) == 1
                assert requests.get(f"{server.url}/healthz", timeout=2).status_code == 200
                with ThreadPoolExecutor(8) as visitors:
                    probes = list(visitors.map(lambda _: requests.get(f"{server.url}/readyz", timeout=9), range(8)))
                assert {probe.status_code for probe in probes} == {503}
                assert max(probe.elapsed.total_seconds() for probe in probes) < 2.5
            finally:
                for process in frozen:
                    process.resume()
            assert session.run().bodies("alert") == []


def prepare(cluster: Cluster) -> None:
    """A store with one organization on a server of its own."""
    cluster.run("create database rankscope")
    engine = make_engine(cluster.url(database="rankscope"), name="prepare")
    migrate(engine, create_store=True)
    engine.dispose()
    with psycopg.connect(cluster.plain_url(database="rankscope"), autocommit=True) as owner:
        sample.add_organization(owner, "org_a")
        sample.add_retrieval(owner, "org_a", sample.unchanged(8), name="r1")
