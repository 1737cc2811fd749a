"""LOAD-5: how much longer other operators' pages take while the worker is at a heavy comparison."""

import statistics
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlencode

import numpy as np

from benchmarks._bars import held, over, under
from benchmarks.retrieval import store_of
from retrieval.onnx_models import MINILM, packaged
from tests.app_server import AppServer
from tests.driver import Session

OPERATORS, THINK = 4, 0.5  # seconds between two reruns of one operator
POLL = 2.0  # whoever waits watches a fragment; the driver can only run the whole page
RATIO, FINISHED = "p95 ratio", "comparisons finished meanwhile"
LIMIT = 2.0
PAGE = "tests/controls/inspector/compare_page.py"
# 100 pairs through the model, three times: some seconds of computing, more than a page would wait for, and so little
# that one is over within a round; else nobody could tell whether the worker was at it at all
HEAVY = ",".join(f"Relevance~~Head~k~100~~CrossEncoder~pool~100~~Head~k~{k}" for k in (10, 20, 30))


def beside_worker(*, quick: bool) -> Mapping[str, object]:
    """p50 and p95 of a rerun with a comparison of two pipelines, alone and beside the worker, in turns."""
    if packaged(MINILM) is None:
        return {"not measured": "this needs the neural scorer: `make models` installs it"}
    seconds, rounds = (15.0, 1) if quick else (20.0, 4)
    spent: dict[str, list[float]] = {"alone": [], "beside the worker": []}
    ratios, finished = [], 0
    with store_of(3_000) as (store, *_):
        url = store.reader.url.set(drivername="postgresql").render_as_string(hide_password=False)
        server = AppServer(script=PAGE, DATABASE_URL=url)
        try:
            reruns(server, seconds=3.0)
            for _ in range(rounds):
                alone = reruns(server, seconds)
                with heavy(server) as done:
                    before = len(done)
                    beside = reruns(server, seconds)
                    finished += len(done) - before
                spent["alone"] += alone
                spent["beside the worker"] += beside
                ratios.append(p(95, beside) / p(95, alone))
        finally:
            server.stop()
    ratio = statistics.median(ratios)
    return {
        "others": [
            {"others": name, "reruns": len(times), "p50 ms": p(50, times) * 1e3, "p95 ms": p(95, times) * 1e3}
            for name, times in spent.items()
        ],
        "p95 ratio per round": ratios,
        RATIO: ratio,
        "limit": LIMIT,
        FINISHED: finished,
        **judged(ratio, finished),
    }


def judged(ratio: float, finished: int) -> dict[str, object]:
    """Whether others waited little longer; beside a worker that finished nothing that was not shown."""
    return held([*over({RATIO: ratio}, {RATIO: LIMIT}), *under({FINISHED: finished}, {FINISHED: 1})])


def p(share: int, times: list[float]) -> float:
    """A percentile of times in seconds."""
    return float(np.percentile(times, share))


def reruns(server: AppServer, seconds: float) -> list[float]:
    """How long each rerun took of some operators who compare two pipelines that need no model."""
    until = time.monotonic() + seconds
    times: list[float] = []

    def operator() -> None:
        query = urlencode({"org": "large", "q": "deploy token", "vs": "MEMINI"})
        with Session(server.url, query=query) as session:
            session.run()
            while time.monotonic() < until:
                times.append(session.run().seconds)
                if "plotly_chart" not in {element.WhichOneof("type") for element in session.elements}:
                    raise RuntimeError("expected a comparison, found a page without one")
                time.sleep(THINK)

    threads = [threading.Thread(target=operator) for _ in range(OPERATORS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


@contextmanager
def heavy(server: AppServer) -> Iterator[list[int]]:
    """Someone whose comparison keeps the worker busy, one question after the other; yields what was finished."""
    over, busy = threading.Event(), threading.Event()
    done: list[int] = []

    def operator() -> None:
        number = 0
        while not over.is_set():
            number += 1
            question = f"deploy token {time.monotonic_ns()}"
            query = urlencode({"org": "large", "q": question, "vs": HEAVY, "now": "2026-03-29T12:00:00+00:00"})
            with Session(server.url, query=query) as session:
                while not over.is_set():
                    kinds = {element.WhichOneof("type") for element in session.run().elements}
                    if "plotly_chart" in kinds:
                        done.append(number)
                    if "progress" not in kinds:
                        break  # finished, or failed, which is then no comparison
                    busy.set()
                    time.sleep(POLL)

    thread = threading.Thread(target=operator)
    thread.start()
    busy.wait(60.0)
    time.sleep(2.0)  # what the worker imports is not what it computes
    try:
        yield done
    finally:
        over.set()
        thread.join()
