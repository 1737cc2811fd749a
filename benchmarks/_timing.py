import time
from collections.abc import Callable
from typing import NamedTuple


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest of several runs: what the machine can do, without what else it was doing."""
    fastest = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest


class Spent(NamedTuple):
    """Seconds by the clock, and of this process's own computing, which bear a busy machine."""

    clock: float
    own: float


def timed(work: Callable[[], object], times: int = 3) -> Spent:
    """The fewest seconds of several runs, by the clock and by own computing."""
    runs = []
    for _ in range(times):
        clock, own = time.perf_counter(), time.process_time()
        work()
        runs.append(Spent(time.perf_counter() - clock, time.process_time() - own))
    return Spent(min(run.clock for run in runs), min(run.own for run in runs))
