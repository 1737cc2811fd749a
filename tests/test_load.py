"""Many operators, and operators who come and go: LOAD-1 to 6, REC-11.

LOAD-1's 6 ×, LOAD-4's 15 × and LOAD-5's 2 × are ratios within one run; 1 s, 2 s and 50 ms are held as they are.
"""

from __future__ import annotations

import statistics
import threading
import time
from contextlib import contextmanager
from functools import partial
from itertools import islice, product
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import numpy as np
import psutil
import psycopg
import pytest
from psycopg import sql

from benchmarks.load import of_capacity, of_memory
from benchmarks.replay import LARGEST
from queries.engine import AGGREGATE
from tests.crowd import ADDRESSES, faults, memory, open_and_close, unasked, visit_together
from tests.demo_server import demo_server
from tests.driver import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.app_server import AppServer
    from tests.conftest import Cluster

MIB = 2**20
TTL = 5  # seconds that a closed session is kept for a browser that comes back; Streamlit's own are 120
POOL = 12  # connections of the pages at most
# a connection bears the name of the question it is asked; whether the store answers is asked over others
OF_PAGES = (
    "from pg_stat_activity where starts_with(application_name, 'rankscope') and application_name <> 'rankscope readyz' "
    "and datname = current_database()"  # another test's server may still be connected to its own
)
ACTIVE = f"select count(*) {OF_PAGES} and state = 'active'"
ASLEEP = f"select pid, query_start {OF_PAGES} and state = 'active' and wait_event = 'PgSleep' and query_start > %s"
CONNECTED = f"select count(*) {OF_PAGES}"


@pytest.fixture(scope="module")
def server(cluster: Cluster, template: str) -> Iterator[AppServer]:
    with demo_server(cluster, template, arguments=("--server.disconnectedSessionTTL", str(TTL))) as started:
        visit_together(started.url, 4, seconds=5, think=0)
        yield started


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize(("visitors", "ratio", "seconds"), [(25, 6, 1), (50, None, 2), (100, None, None)])
def test_a_crowd_is_served_without_a_fault(
    server: AppServer, visitors: int, ratio: int | None, seconds: int | None
) -> None:
    """LOAD-1 to 3: five seconds of thought between two reruns, for a minute.

    Of 25 the p95 is held against what one operator waits alone, too; of a hundred it is only asked that each is served
    to the end.
    """
    before = visit_together(server.url, 1, seconds=6, think=0.1)
    crowd = visit_together(server.url, visitors, seconds=60, think=5)
    after = visit_together(server.url, 1, seconds=6, think=0.1)
    assert crowd.faults == []
    assert crowd.served == visitors
    assert len(crowd.seconds) >= visitors * 60 / (5 * 1.5 + 5)
    if ratio is not None:
        assert crowd.p(95) <= ratio * max(before.p(50), after.p(50))
    if seconds is not None:
        assert crowd.p(95) <= seconds


@pytest.mark.long
def test_a_rerun_costs_little_computing(server: AppServer) -> None:
    """LOAD-4: 20 reruns a second are 50 ms of computing each, which a busy machine makes no longer, unlike the clock.

    The bar is held for windows whose answers are kept, as operators rerun them; what a window costs that was never
    asked for is reported by the benchmark. Against a page that says one word, which is what Streamlit itself costs,
    10.3 times as much was measured; with a collection of garbage after every run it is 12 to 21.
    """
    found = of_capacity(server, seconds=10)
    assert found["faults"] == 0
    assert found["own ms a rerun"] <= 50
    assert found["ratio"] <= 15
    # else the windows that nobody asked for yet would have been answered by the cache as well
    assert found["own ms of a window never asked for"] > 2 * found["own ms a rerun"]


def turned() -> Iterator[str]:
    """What-if under ever other settings: each is a map that nobody has computed yet."""
    for bits, by, dup in product(range(17), ("members", "agents"), ("0.8", "0.85", "0.9", "0.92", "0.96", "0.98")):
        knobs = {"boost": "0.1", "lam": "0.78", "bits": bits, "by": by, "dup": dup}
        yield urlencode({"org": LARGEST, "window": "90d", **knobs})


@contextmanager
def replaying(server: AppServer, turns: Iterator[str]) -> Iterator[list[str]]:
    """A fifth operator whose every click is a map for the worker; yields those that were drawn."""
    over, warm = threading.Event(), threading.Event()
    drawn: list[str] = []

    def operator() -> None:
        for query in turns:
            with Session(server.url, query=query, page="what_if") as session:
                while not over.is_set():
                    kinds = {element.WhichOneof("type") for element in session.run().elements}
                    if "plotly_chart" in kinds:
                        drawn.append(query)
                        warm.set()
                    if "progress" not in kinds:
                        break  # drawn, or given up at the worker's limit, and on to the next
                    time.sleep(1.0)
            if over.is_set():
                return

    thread = threading.Thread(target=operator)
    thread.start()
    try:
        assert warm.wait(120), "the worker drew no map"
        yield drawn
    finally:
        over.set()
        thread.join()


def worked(server: AppServer) -> float:
    """Seconds that the application's worker processes have computed so far."""
    children = psutil.Process(server.process.pid).children(recursive=True)
    return float(sum(sum(child.cpu_times()[:2]) for child in children))


@pytest.mark.long
@pytest.mark.timeout(600)
def test_others_wait_little_longer_while_the_worker_computes(server: AppServer) -> None:
    """LOAD-5: beside someone whose every click goes to the worker, others' p95 is at most twice what it is alone."""
    ratios, turns = [], turned()
    for _ in range(3):
        alone = visit_together(server.url, 4, seconds=10, think=0.5)
        assert alone.faults == []
        with replaying(server, turns) as drawn:
            before, done, beside = worked(server), len(drawn), list[float]()
            for _ in range(6):  # a map takes a second; on a busy machine they go on until one is there
                crowd = visit_together(server.url, 4, seconds=10, think=0.5)
                assert crowd.faults == []
                beside += crowd.seconds
                if len(drawn) > done:
                    break
            assert len(drawn) > done, "no map was finished meanwhile"
            assert worked(server) - before > 0.5, "the worker computed hardly anything"
        ratios.append(float(np.percentile(beside, 95)) / alone.p(95))
    assert statistics.median(ratios) <= 2


@pytest.mark.long
@pytest.mark.timeout(400)
def test_what_sessions_keep_and_leave(cluster: Cluster, template: str) -> None:
    """LOAD-6, on a server that no crowd has been at: room that one left behind would be taken for none needed."""
    with demo_server(cluster, template, arguments=("--server.disconnectedSessionTTL", str(TTL))) as fresh:
        found = of_memory(fresh, sessions=200)
    assert found["MiB an idle session"] <= 1
    assert found["memory after / before"] <= 1.1


@pytest.mark.long
@pytest.mark.timeout(400)
class TestLeaving:
    """REC-11: a tab that is closed while its page is being made."""

    @pytest.fixture(scope="class")
    @classmethod
    def server(cls, cluster: Cluster, template: str) -> Iterator[AppServer]:
        with demo_server(cluster, template) as started:
            open_and_close(started, len(ADDRESSES))
            yield started

    @pytest.fixture
    def database(self, server: AppServer) -> str:
        return server.environment["DATABASE_URL"].rpartition("/")[2].partition("?")[0]

    def test_its_question_ends_by_its_own_limit(self, server: AppServer, cluster: Cluster, database: str) -> None:
        """A policy that takes its time for every row makes the log slow, as a large one would be."""
        with slowed(cluster, database, "retrieval_ab_logs"):
            with Session(server.url, query="window=90d") as session:
                session.send()
                _until(lambda: bool(cluster.run(ACTIVE, database)[0][0]), 20)
            left = time.monotonic()
            _until(lambda: cluster.run(ACTIVE, database) == [(0,)], AGGREGATE + 3)
            assert time.monotonic() - left > 1, "the question was over before the tab was closed"

    def test_coming_and_going_leaves_nothing_behind(self, server: AppServer, cluster: Cluster, database: str) -> None:
        """Each asks for a window of its own, which no cache answers, and leaves while the server reads the store."""
        visits = iter(unasked())
        with slowed(cluster, database, "organizations"):
            self.leave_while_asked(server, cluster, database, islice(visits, 20))
            before = memory(server)
            assert self.leave_while_asked(server, cluster, database, islice(visits, 200)) == 200
            assert memory(server) - before < 20 * MIB
        assert 1 <= cluster.run(CONNECTED, database)[0][0] <= POOL
        with Session(server.url, query=ADDRESSES[0][0]) as session:
            assert faults(session.run(), ADDRESSES[0][1]) == []

    def leave_while_asked(
        self, server: AppServer, cluster: Cluster, database: str, visits: Iterable[tuple[str, str]]
    ) -> int:
        """Close every visit once a question that it began is being answered; how many such questions there were."""
        asked: set[tuple[object, ...]] = set()

        def begun(sent: tuple[object, ...]) -> bool:
            found = watch.execute(ASLEEP, sent).fetchall()
            asked.update(found[:1])
            return bool(found)

        with psycopg.connect(cluster.plain_url("postgres", database), autocommit=True) as watch:
            for query, _ in visits:
                with Session(server.url, query=query) as session:
                    (sent,) = watch.execute("select clock_timestamp()").fetchall()
                    session.send()
                    _until(partial(begun, sent), 20, every=0.005)
        _until(lambda: cluster.run(ACTIVE, database) == [(0,)], 60)
        return len(asked)


@contextmanager
def slowed(cluster: Cluster, database: str, table: str) -> Iterator[None]:
    """A table whose every row takes the pages its time."""
    name = sql.Identifier(table)
    slow = "create policy slow on {} as restrictive for select to dash_read using (pg_sleep(0.05) is not null)"
    cluster.run(sql.SQL(slow).format(name), database)
    try:
        yield
    finally:
        cluster.run(sql.SQL("drop policy slow on {}").format(name), database)


def _until(condition: Callable[[], bool], limit: float, every: float = 0.05) -> None:
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < limit
        time.sleep(every)
