import time
from collections.abc import Callable


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest of several runs: what the machine can do, without what else it was doing."""
    fastest = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest
