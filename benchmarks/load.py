"""LOAD-1 to 6: how long many operators wait, what a rerun and a session cost, each against a baseline of its run."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from benchmarks._bars import held, over, under
from benchmarks._beside_worker import beside_worker
from jobs.demo.sizes import DEFAULT, SMALL
from tests.app_server import AppServer
from tests.conftest import make_template, start_cluster, stop_cluster
from tests.crowd import ADDRESSES, Crowd, computing, held_open, memory, open_and_close, visit_together
from tests.demo_server import demo_server

Row = dict[str, object]
CROWDS = {25: 1.0, 50: 2.0, 100: None}  # operators, and the seconds that p95 may take
THINK = 5.0  # seconds between two reruns of one operator
RATIOS = {25: 6.0}  # operators, and what their p95 may be against the p50 of one alone
RERUNS_A_SECOND = 20.0
TTL = 5  # seconds that a closed session is kept
MIB = 2**20
LEFT = 1.1  # memory after sessions were closed against before they were opened
MEMORY = {"MiB an idle session": 1.0, "memory after / before": LEFT}
BLANK = "benchmarks/_blank_page.py"


def run(quick: bool) -> Mapping[str, object]:  # noqa: FBT001 - the contract of python -m benchmarks
    """Overview of the demo store; a rerun chooses another organization or window, and is checked to show it."""
    with served(quick=quick) as server:
        visit_together(server.url, 4, seconds=3, think=0)
        crowds = list(of_crowds(server, seconds=8 if quick else 60, quick=quick))
        capacity = of_capacity(server, seconds=4 if quick else 15)
    with served(quick=quick) as fresh:  # room that a crowd left behind would be taken for none needed
        kept = of_memory(fresh, sessions=20 if quick else 200)
    return {
        "rows": crowds,
        "capacity (LOAD-4)": capacity,
        "memory (LOAD-6)": kept,
        "others' pages beside the worker (LOAD-5)": beside_worker(quick=quick),
    }


@contextmanager
def served(*, quick: bool) -> Iterator[AppServer]:
    """The application on a database server of its own."""
    cluster = start_cluster()
    try:
        arguments = ("--server.disconnectedSessionTTL", str(TTL))
        size = SMALL if quick else DEFAULT
        with demo_server(cluster, make_template(cluster), size=size, arguments=arguments) as server:
            yield server
    finally:
        stop_cluster(cluster)


def of_crowds(server: AppServer, seconds: float, *, quick: bool) -> Iterator[Row]:
    """One operator, then the crowds, each measured between two looks at one operator: the baseline is the slower."""
    alone = visit_together(server.url, 1, seconds=5, think=0.1)
    yield _row("1, the baseline", alone, alone.p(50))
    for operators, limit in list(CROWDS.items())[: 1 if quick else None]:
        crowd = visit_together(server.url, operators, seconds=seconds, think=THINK)
        again = visit_together(server.url, 1, seconds=5, think=0.1)
        row = _row(str(operators), crowd, max(alone.p(50), again.p(50)))
        row |= {"p95 limit ms": None if limit is None else limit * 1e3, "ratio limit": RATIOS.get(operators)}
        yield row | judged(row, operators, quick=quick)
        alone = again


def _row(operators: str, crowd: Crowd, baseline: float) -> Row:
    return {
        "operators": operators,
        "reruns": len(crowd.seconds),
        "p50 ms": crowd.p(50) * 1e3,
        "p95 ms": crowd.p(95) * 1e3,
        "p95 / p50 of one": crowd.p(95) / baseline,
        "faults": len(crowd.faults),
        "served to the end": crowd.served,
    }


def judged(row: Row, operators: int, *, quick: bool) -> Row:
    """Whether a crowd was served in time, each of it to the end and without a fault.

    A quick run has some forty reruns, of which two make a p95 on a busy machine: what they took is told, not judged.
    """
    figures = {name: value for name, value in row.items() if isinstance(value, int | float)}
    in_time = {} if quick else {"p95 ms": row["p95 limit ms"], "p95 / p50 of one": row["ratio limit"]}
    limits = {**in_time, "faults": 0}
    asked = {name: most for name, most in limits.items() if isinstance(most, int | float)}
    return held([*over(figures, asked), *under(figures, {"served to the end": operators})])


def of_capacity(server: AppServer, seconds: float) -> dict[str, Any]:
    """Reruns a second of four operators who never pause, and what one costs against one of a blank page.

    They choose among a few windows, whose answers are kept for a minute; then each one that nobody has asked for yet.
    """
    blank = AppServer(script=BLANK)
    try:
        visit_together(blank.url, 4, seconds=2, think=0, check=lambda *_: [])
        before = computing(blank)
        empty = visit_together(blank.url, 4, seconds=seconds / 2, think=0, check=lambda *_: [])
        floor = (computing(blank) - before) / len(empty.seconds)
    finally:
        blank.stop()
    before = computing(server)
    crowd = visit_together(server.url, 4, seconds=seconds, think=0)
    own = (computing(server) - before) / len(crowd.seconds)
    before = computing(server)
    first = visit_together(server.url, 4, seconds=seconds, think=0, fresh=True)
    asking = (computing(server) - before) / len(first.seconds)
    faults = len(crowd.faults) + len(first.faults)
    bars = over({"own ms": own * 1e3, "faults": faults}, {"own ms": 1e3 / RERUNS_A_SECOND, "faults": 0})
    return {
        "reruns a second": len(crowd.seconds) / crowd.lasted,
        "own ms a rerun": own * 1e3,
        "limit own ms": 1e3 / RERUNS_A_SECOND,
        "own ms of a blank page": floor * 1e3,
        "ratio": own / floor,
        "own ms of a window never asked for": asking * 1e3,
        "fresh reruns a second": len(first.seconds) / first.lasted,
        "faults": faults,
        **held(bars),
    }


def of_memory(server: AppServer, sessions: int) -> dict[str, Any]:
    """What idle sessions keep while all are open, and what is left of them after they were opened and closed twice.

    The server has seen every address once before, so that what it caches for everyone is not counted as a session's.
    """
    open_and_close(server, len(ADDRESSES))
    before = memory(server)
    idle = 0.0
    for _ in range(2):
        with held_open(server, sessions):
            idle = max(idle, (memory(server) - before) / sessions)
        time.sleep(TTL + 1)
        open_and_close(server, 1)  # what is over is forgotten when the next one leaves
    after = memory(server) / before
    return {
        "MiB an idle session": idle / MIB,
        "limit MiB": 1.0,
        "sessions opened and closed": 2 * sessions,
        "memory after / before": after,
        "limit": LEFT,
        **held(over({"MiB an idle session": idle / MIB, "memory after / before": after}, MEMORY)),
    }
