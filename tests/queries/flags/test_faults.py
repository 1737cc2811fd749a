"""Many operators at once, processes killed at any point, and connections lost at COMMIT: FLG-1 to 3."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from sqlalchemy import event

from queries import once
from queries.engine import Store, make_engine
from queries.flags.registry import STATES, as_state
from queries.once import make, settle
from tests.queries.flags.flag_store import MINE, audit_rows, features_text, live_and_audited, set_flag
from tests.tcp_proxy import Proxy

if TYPE_CHECKING:
    from queries.flags.registry import State
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_counting")

OPERATORS, TOGGLES = 16, 60
COMMIT = b"COMMIT\0"  # as a message ends: a transaction also begins with the words READ COMMITTED


def test_sixteen_operators_and_a_foreign_writer_lose_nothing(
    cluster: Cluster, store_database: str, owner: Owner
) -> None:
    """FLG-1: every success has its audit row, the rows are one chain, and no other key is lost."""
    url = cluster.url("dash_write", store_database)
    crowd = Store(make_engine(url, name="x", pool=1), make_engine(url, name="crowd", pool=OPERATORS))
    done, counted = threading.Event(), 0

    def foreign() -> int:
        times = 0
        with psycopg.connect(cluster.plain_url("postgres", store_database), autocommit=True) as platform:
            while not done.is_set():
                platform.execute(
                    """update organizations set features = features ||
                         jsonb_build_object('counter', (features ->> 'counter')::int + 1) where id = 'org_a'"""
                )
                times += 1
                time.sleep(0.005)
        return times

    def operate(number: int) -> tuple[int, int]:
        seen: State = "absent"
        made = conflicts = 0
        for _ in range(TOGGLES):
            new: State = STATES[(STATES.index(seen) + 1) % 3]
            outcome = make(crowd, MINE, set_flag(seen, new, actor=f"operator-{number}"))
            if outcome.kind == "applied":
                made, seen = made + 1, new
            else:
                assert outcome.kind == "conflict", outcome.sentence
                assert outcome.found
                assert outcome.found != seen
                conflicts, seen = conflicts + 1, as_state(outcome.found)
        return made, conflicts

    with ThreadPoolExecutor(OPERATORS + 1) as pool:
        writing = pool.submit(foreign)
        results = list(pool.map(operate, range(OPERATORS)))
        done.set()
        counted = writing.result()
    crowd.close()
    rows = audit_rows(owner)
    assert len(rows) == sum(made for made, _ in results) >= TOGGLES
    assert sum(made + conflicts for made, conflicts in results) == OPERATORS * TOGGLES
    assert rows[0][0] == "absent"
    assert all(earlier[1] == later[0] for earlier, later in pairwise(rows))
    assert live_and_audited(owner) == (rows[-1][1], rows[-1][1])
    assert sum(conflicts for _, conflicts in results) > 0
    stored = features_text(owner)
    assert stored
    assert f'"counter": {counted}' in stored


# A change runs seven statements; then there are the points just before COMMIT and just after it.
POINTS = (*range(1, 8), "commit", "after")


def toggle_until_killed(url: str, seen: State, point: object, start: Any) -> None:  # noqa: ANN401 - an Event of either kind
    """Change the flag over and over; die at a point of the third change, or whenever someone kills this process."""
    engine = make_engine(url, name="mortal", pool=1, overflow=0)
    mortal = Store(engine, engine)
    statements = changes = 0

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def count(*_: object) -> None:
        nonlocal statements
        statements += 1
        if changes == 2 and statements == point:
            die()

    event.listen(engine, "before_cursor_execute", count)
    event.listen(engine, "commit", lambda _: die() if changes == 2 and point == "commit" else None)
    start.set()
    while True:
        statements = 0
        new: State = STATES[(STATES.index(seen) + 1) % 3]
        assert make(mortal, MINE, set_flag(seen, new)).kind == "applied"
        changes, seen = changes + 1, new
        if changes == 3 and point == "after":
            die()


def kill_and_look(cluster: Cluster, database: str, owner: Owner, rounds: int) -> list[int]:
    fork = multiprocessing.get_context("fork")
    points: list[object] = [*POINTS, *["any time"] * len(POINTS)]
    made = []
    for number in range(rounds):
        state, _ = settled(owner)
        before, started = len(audit_rows(owner)), fork.Event()
        point = points[number % len(points)]
        arguments = (cluster.url("dash_write", database), state, point, started)
        child = fork.Process(target=toggle_until_killed, args=arguments)
        child.start()
        started.wait(20)
        if point == "any time":
            time.sleep(random.uniform(0, 0.06))  # noqa: S311 - a moment, not a secret
            child.kill()
        child.join(20)
        assert child.exitcode == -signal.SIGKILL
        live, audited = settled(owner)
        assert live == (audited or "absent"), f"killed at {point}"
        made.append(len(audit_rows(owner)) - before)
        if point != "any time":
            assert made[-1] == (3 if point == "after" else 2), f"killed at {point}"
        child.close()
    rows = audit_rows(owner)
    assert all(earlier[1] == later[0] for earlier, later in pairwise(rows))
    return made


def settled(owner: Owner) -> tuple[State, State | None]:
    """Live and audited once the server has noticed that nobody is there any more."""
    owner.execute("begin; select 1 from organizations where id = 'org_a' for update; commit")
    return live_and_audited(owner)


def test_a_process_killed_at_any_point_leaves_flag_and_audit_agreeing(
    cluster: Cluster, store_database: str, owner: Owner
) -> None:
    """FLG-2, shortly."""
    assert sum(kill_and_look(cluster, store_database, owner, 20)) >= 2 * len(POINTS)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_three_hundred_processes_killed(cluster: Cluster, store_database: str, owner: Owner) -> None:
    """FLG-2."""
    kill_and_look(cluster, store_database, owner, 300)


class TestLostCommit:
    """FLG-3: what is reported is what is in the store, whichever way the connection went."""

    @pytest.fixture
    def server(self, cluster: Cluster) -> str:
        return f"{cluster.lease._socket}/.s.PGSQL.5432"

    def through(self, proxy: Proxy, database: str, store: Store) -> Store:
        url = f"postgresql://dash_write@127.0.0.1:{proxy.port}/{database}"
        engine = make_engine(url, name="through a proxy")
        engine.connect().close()
        proxy.arm()
        return Store(store.reader, engine)

    @pytest.mark.parametrize(
        ("how", "first", "second"),
        [("forward", "applied", "already"), ("late", "applied", "already"), ("drop", "failed", "applied")],
    )
    def test_the_truth_is_found_and_a_second_try_applies_nothing_twice(
        self, store: Store, store_database: str, owner: Owner, server: str, *, how: str, first: str, second: str
    ) -> None:
        with Proxy(server, COMMIT, how) as proxy:
            fragile = self.through(proxy, store_database, store)
            change = set_flag("absent", "on")
            outcome = make(fragile, MINE, change)
            assert proxy.cuts == 1
            assert outcome.kind == first
            assert live_and_audited(owner)[0] == ("on" if first == "applied" else "absent")
            assert make(fragile, MINE, change).kind == second
            fragile.writer.dispose()  # type: ignore[union-attr]
        assert audit_rows(owner) == [("absent", "on")]

    def test_a_database_that_stays_away_leaves_it_unknown_until_it_is_back(
        self, store: Store, store_database: str, owner: Owner, server: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(once, "SETTLING", 0.3)
        change = set_flag("absent", "on")
        with Proxy(server, COMMIT, "forward", close_after=True) as proxy:
            fragile = self.through(proxy, store_database, store)
            outcome = make(fragile, MINE, change)
            fragile.writer.dispose()  # type: ignore[union-attr]
        assert (outcome.kind, outcome.sentence) == ("unknown", once.UNSURE)
        assert settle(store, MINE, change).kind == "applied"
        assert audit_rows(owner) == [("absent", "on")]

    def test_a_connection_lost_before_changed_nothing_and_says_so(
        self, store: Store, store_database: str, owner: Owner, server: str
    ) -> None:
        with Proxy(server, b"INSERT INTO rankscope.flag_changes", "drop") as proxy:
            fragile = self.through(proxy, store_database, store)
            outcome = make(fragile, MINE, set_flag("absent", "on"))
            fragile.writer.dispose()  # type: ignore[union-attr]
        assert outcome.kind == "failed"
        assert live_and_audited(owner) == ("absent", None)
