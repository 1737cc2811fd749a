"""LOAD-5: how much longer other operators' pages take while the worker is at a heavy comparison."""

import statistics
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlencode

from websockets.exceptions import WebSocketException

from benchmarks._bars import held, over, under
from benchmarks.retrieval import store_of
from retrieval.onnx_models import MINILM, packaged
from tests.app_server import AppServer
from tests.crowd import Crowd
from tests.driver import Session

OPERATORS, THINK = 4, 0.5  # seconds between two reruns of one operator
POLL = 2.0  # whoever waits watches a fragment; the driver can only run the whole page
RATIO, FINISHED, FAULTS, SERVED = "p95 ratio", "comparisons finished meanwhile", "faults", "served to the end"
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
    spent = {"alone": Crowd(), "beside the worker": Crowd()}
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
                for all_rounds, crowd in zip(spent.values(), (alone, beside), strict=True):
                    all_rounds.seconds += crowd.seconds
                    all_rounds.faults += crowd.faults
                    all_rounds.served += crowd.served
                ratios.append(beside.p(95) / alone.p(95))
        finally:
            server.stop()
    figures = {RATIO: statistics.median(ratios), FINISHED: finished}
    for name, crowd in spent.items():
        figures |= {f"{FAULTS} {name}": len(crowd.faults), f"{SERVED} {name}": crowd.served}
    return {
        "others": [
            {"others": name, "reruns": len(crowd.seconds), "p50 ms": crowd.p(50) * 1e3, "p95 ms": crowd.p(95) * 1e3}
            for name, crowd in spent.items()
        ],
        "p95 ratio per round": ratios,
        "limit": LIMIT,
        **figures,
        "first faults": [fault for crowd in spent.values() for fault in crowd.faults][:3],
        **judged(figures, OPERATORS * rounds, quick=quick),
    }


def judged(figures: Mapping[str, float], visits: int, *, quick: bool) -> dict[str, object]:
    """Whether others waited little longer; beside a worker that finished nothing that was not shown.

    A quick run has a single round, too short for a percentile: only what is wrong with its pages is judged.
    """
    most = {name: 0.0 for name in figures if name.startswith(FAULTS)}
    least = {name: float(visits) for name in figures if name.startswith(SERVED)}
    if not quick:
        most[RATIO] = LIMIT
        least[FINISHED] = 1
    return held([*over(figures, most), *under(figures, least)])


def reruns(server: AppServer, seconds: float) -> Crowd:
    """How long each rerun took of some operators who compare two pipelines that need no model."""
    until = time.monotonic() + seconds
    met = Crowd()

    def operator() -> None:
        query = urlencode({"org": "large", "q": "deploy token", "vs": "MEMINI"})
        try:
            with Session(server.url, query=query) as session:
                session.run()
                while time.monotonic() < until:
                    met.seconds.append(session.run().seconds)
                    if "plotly_chart" not in {element.WhichOneof("type") for element in session.elements}:
                        met.faults.append("expected a comparison, found a page without one")
                    time.sleep(THINK)
            met.served += 1
        except (WebSocketException, OSError) as error:
            met.faults.append(f"an operator: {type(error).__name__} {error}")

    threads = [threading.Thread(target=operator) for _ in range(OPERATORS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return met


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
